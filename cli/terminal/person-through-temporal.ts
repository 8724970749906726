// A person at the terminal of a session without a direct connection: they see its text once a second, and what they
// type is sent line by line, as inputs.
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionHandle } from '../../client/session-handle';
import { HoldfastError, reasonOf, type ErrorCode } from '../../contracts/errors/holdfast-error';
import type { InputRequest } from '../../contracts/schemas/session';
import type { CommandView } from '../../contracts/sessions/session';
import { counted } from '../../contracts/text/counted';
import { LOOK_THROUGH_TEMPORAL_MS, NEXT, PAGE } from './follow-log';
import { draw } from './guarded-output';
import { inertFor } from './inert-text';
import type { Left, Person } from './person-at-terminal';
import { printJson } from '../print/print-json';
import { note } from './terminal-style';

const AT_ONCE = { firstOutputMs: 0, betweenOutputMs: 0, maxMs: 0, promptMs: 0 };
/** Keys that are sent at once, without Enter. */
const KEYS: Record<string, InputRequest> = {
  '\x03': { keys: ['ctrl-c'] },
  '\x04': { keys: ['ctrl-d'] },
  '\x1a': { keys: ['ctrl-z'] },
  '\x1c': { keys: ['ctrl-\\'] },
};
const ERASE = ['\x7f', '\b'];
/** How long a person who has left waits for the lines that they typed before. */
const SEND_MS = 10_000;
const GONE: readonly ErrorCode[] = ['not_found', 'session_closed'];

/** Resolves with null when the session is gone: the person did not leave. */
export async function showThroughTemporal(
  session: SessionHandle,
  { types, detachKey, json }: Person,
  why: string,
): Promise<Left | null> {
  const left = new AbortController();
  const keyboard = types ? new LineKeyboard(session, detachKey.byte, () => left.abort()) : undefined;
  const onInterrupt = (): void => left.abort();
  if (!json) {
    note(`[host ${session.ref.host} is followed through Temporal, once a second: ${why}]`);
    note(`[${types ? 'Enter sends a line; ' : ''}${types ? detachKey.name : 'ctrl-c'} leaves]`);
  }
  process.once('SIGINT', onInterrupt);
  keyboard?.open();
  try {
    const onView = ({ waiting }: CommandView): void => {
      if (keyboard) keyboard.echoes = waiting?.echo ?? false;
    };
    return (await print(session, { json, left: left.signal, onView })) ? { exitCode: 0 } : null;
  } finally {
    process.off('SIGINT', onInterrupt);
    await keyboard?.close();
  }
}

/** True when the person left. */
async function print(
  session: SessionHandle,
  { json, left, onView }: { json: boolean; left: AbortSignal; onView: (view: CommandView) => void },
): Promise<boolean> {
  const filter = inertFor(process.stdout);
  const leaving = new Promise<undefined>((resolve) =>
    left.addEventListener('abort', () => resolve(undefined), { once: true }),
  );
  for (let at: number | null = null; !left.aborted;) {
    try {
      const looking = session.output(at === null ? {} : { ...PAGE, from: at, ...NEXT });
      // It is not waited for once the person has left.
      looking.catch(() => undefined);
      const view = await Promise.race([looking, leaving]);
      if (!view) return true;
      at = view.to;
      onView(view);
      if (json && view.output) printJson({ output: view.output, to: at });
      else if (!json) draw(lines(filter.push(Buffer.from(view.output))));
    } catch (err) {
      if (err instanceof HoldfastError && GONE.includes(err.code) && at !== null) return false;
      throw err;
    }
    await delay(LOOK_THROUGH_TEMPORAL_MS, undefined, { signal: left }).catch(() => undefined);
  }
  return true;
}

/** A terminal in raw mode returns to the start of the line only on request. */
const lines = (text: string): string => (process.stdin.isRaw ? text.replaceAll(/\r?\n/g, '\r\n') : text);

/** Keys, held back until their line is complete. */
class LineKeyboard {
  /** Whether to show the line being typed; else dots, as it may be a password. */
  echoes = false;
  private line = '';
  private sending: Promise<unknown> = Promise.resolve();
  private unsent = 0;
  private readonly onKeys = (keys: Buffer): void => this.take(keys);

  constructor(
    private readonly session: SessionHandle,
    private readonly detachByte: number,
    private readonly leave: () => void,
  ) {}

  open(): void {
    process.stdin.setRawMode(true).on('data', this.onKeys).resume();
  }

  /** Waits for what was sent, and says so if it takes too long. Ctrl-C ends the wait. */
  async close(): Promise<void> {
    process.stdin.off('data', this.onKeys).pause().setRawMode(false);
    const waited = new AbortController();
    await Promise.race([this.sending, delay(SEND_MS, undefined, { signal: waited.signal })]);
    waited.abort();
    if (this.unsent > 0) note(`[what was typed last may not have arrived: ${counted(this.unsent, 'input')}]`);
  }

  private take(keys: Buffer): void {
    const at = keys.indexOf(this.detachByte);
    const text = (at < 0 ? keys : keys.subarray(0, at)).toString('utf8');
    // Arrow keys and the like mean nothing to a line that has not been sent.
    if (text.startsWith('\x1b')) ring();
    else for (const char of text) this.key(char);
    if (at >= 0) this.leave();
  }

  private key(char: string): void {
    const pressed = KEYS[char];
    if (pressed) this.send(pressed);
    else if (char === '\r' || char === '\n') {
      draw('\r\x1b[K', process.stderr);
      this.send({ keyboard: this.line });
      this.line = '';
    } else if (ERASE.includes(char)) {
      if (this.line !== '') draw('\b \b', process.stderr);
      this.line = Array.from(this.line).slice(0, -1).join('');
    } else if (char >= ' ') {
      this.line += char;
      draw(this.echoes ? char : '·', process.stderr);
    } else ring();
  }

  private send(request: InputRequest): void {
    this.unsent += 1;
    this.sending = this.sending
      .then(() => this.session.input({ ...request, yield: AT_ONCE }))
      .catch((err: unknown) => reportFailure(err))
      .finally(() => (this.unsent -= 1));
  }
}

/** Beside the line being typed, in a terminal in raw mode. */
function reportFailure(err: unknown): void {
  draw('\r', process.stderr);
  note(`[${reasonOf(err)}]`);
  draw('\r', process.stderr);
}

const ring = (): void => void draw('\x07', process.stderr);
