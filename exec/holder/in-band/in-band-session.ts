// Whether scripts that only a session's terminal reaches may call tools: from `arm` until the command ends. Unless
// armed, output passes untouched.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { Verbs } from '../../protocol';
import { InBand, type InBandOptions } from './in-band';
import type { ToolCalls } from '../calls/tool-calls';

/** Python starts twice, perhaps on a busy machine behind a slow network. */
const CONNECT_MS = 30_000;
const NOTHING = Buffer.alloc(0);

export class SessionInBand {
  private armed: InBand | null = null;

  constructor(
    private readonly session: number,
    private readonly toolCalls: ToolCalls,
    private readonly terminal: Pick<InBandOptions, 'type' | 'release'>,
  ) {}

  get isCalling(): boolean {
    return this.armed?.isCalling ?? false;
  }

  /** Returns the part of the output that is text. */
  pass(data: Buffer): Buffer {
    return this.armed ? this.armed.pass(data) : data;
  }

  /** The command has ended: returns the output that was held back. */
  end(): Buffer {
    const { armed } = this;
    this.armed = null;
    return armed?.end() ?? NOTHING;
  }

  /** `token` is the running command's, as its scripts show it; null if no command runs that may call. */
  async arm(
    { mode }: Verbs['arm']['request'],
    token: string | null,
    over: AbortSignal,
  ): Promise<Verbs['arm']['answer']> {
    if (mode === 'off') {
      this.armed?.disarm();
      return { line: null };
    }
    if (token === null) throw this.refused('no command that may call tools is running in it');
    const armed = (this.armed ??= this.open(token));
    const line = armed.newLine();
    if (mode === 'print') return { line };
    const tooLong = AbortSignal.timeout(CONNECT_MS);
    const connected = armed.untilConnected(AbortSignal.any([over, tooLong]));
    this.terminal.type(Buffer.from(`${line}\r`));
    if (await connected) return { line: null };
    if (tooLong.aborted) throw this.refused(`no shell has answered the line within ${CONNECT_MS} ms`);
    const why = this.armed === armed ? 'it was disarmed' : 'its command ended';
    throw this.refused(`${why} before a shell answered the line`);
  }

  private open(token: string): InBand {
    return new InBand({
      ...this.terminal,
      call: (body, gone) => this.toolCalls.call(token, body, gone),
      log: (message) => console.error(new Date().toISOString(), message),
    });
  }

  private refused(reason: string): HoldfastError {
    return new HoldfastError('arm_refused', { session: this.session, reason });
  }
}
