// The open calls of a session's scripts: from the script's connection until a host worker has answered, however many
// workers come and go in between. A call whose connection closes is cancelled.
import { randomBytes } from 'node:crypto';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { advance, ASKED, isOpen, type CallState } from '../../../contracts/tools/call-state';
import {
  MAX_VALUE_BYTES,
  type CancelledCall,
  type ScriptAnswer,
  type ScriptCall,
  type Verbs,
} from '../../protocol';
import { SecretMask } from '../secret-mask';

/** Commands whose scripts may still call, including background jobs. */
const REMEMBERED_TOKENS = 32;
const MAX_OPEN_CALLS = 1_000;
const MAX_OPEN_BYTES = 256 * 1024 * 1024;
const MAX_NAME_CHARS = 1_000;
const MAX_CWD_CHARS = 16_384;
/** More than an epoch ever has. */
const CHANGES_OF_AN_EPOCH = 2 ** 32;
/** A page of calls ends before the call that would exceed this, unless it is the first. */
const PAGE_BYTES = 1024 * 1024;

interface OpenCall {
  call: ScriptCall;
  bytes: number;
  /** Increases with every change of any call, so that a worker can ask for news. */
  changedAt: number;
  state: CallState;
  settle: (answer: ScriptAnswer) => void;
}

export class ToolCalls {
  private readonly tokens = new Map<string, string>();
  private readonly open = new Map<string, OpenCall>();
  private readonly watchers = new Set<() => void>();
  private changes: number;
  private made = 0;

  /** `epoch` is part of call ids, so that ids stay unique for the life of a session. */
  constructor(
    private epoch: number,
    private readonly mask = new SecretMask(),
  ) {
    // A worker may ask with what it has seen of the holder before, which was of an earlier epoch.
    this.changes = epoch * CHANGES_OF_AN_EPOCH;
  }

  /** The token that the scripts of a command show to be allowed to call. */
  issue(commandId: string): string {
    const token = randomBytes(16).toString('hex');
    this.tokens.set(token, commandId);
    const oldest = this.tokens.keys().next().value;
    if (this.tokens.size > REMEMBERED_TOKENS && oldest !== undefined) this.tokens.delete(oldest);
    return token;
  }

  /** Whether scripts with this token may call. */
  knows(token: string): boolean {
    return this.tokens.has(token);
  }

  /** Resolves with the worker's answer, whenever it arrives; `gone` aborts when the caller no longer waits. */
  call(token: string, body: unknown, gone: AbortSignal): Promise<ScriptAnswer> {
    const commandId = this.tokens.get(token);
    if (commandId === undefined)
      return refused(
        new HoldfastError('script_ended', {
          reason: 'its shell has ended, or it is older than the last commands',
        }),
      );
    // Masked before anybody sees it: whatever a worker receives goes into history.
    const request = this.mask.value(checkedBody(body));
    if (!request)
      return refused(
        new HoldfastError('invalid_input', {
          what: 'The call',
          got: typeof body,
          allowed: `{ tool: string up to ${MAX_NAME_CHARS} characters, args: object, cwd: string up to ${MAX_CWD_CHARS} }`,
        }),
      );
    const bytes = Buffer.byteLength(JSON.stringify({ commandId, ...request }));
    // Measured as JavaScript writes it: 1e20 is written out in full.
    if (bytes > MAX_VALUE_BYTES)
      return refused(
        new HoldfastError('arguments_too_large', {
          tool: request.tool,
          got: bytes,
          allowed: MAX_VALUE_BYTES,
        }),
      );
    const held = [...this.open.values()].reduce((sum, call) => sum + call.bytes, bytes);
    if (this.open.size >= MAX_OPEN_CALLS || held > MAX_OPEN_BYTES)
      return refused(
        new HoldfastError('budget_exceeded', {
          what: 'open calls',
          got: `${this.open.size + 1} calls of ${held} bytes`,
          allowed: `${MAX_OPEN_CALLS} calls of ${MAX_OPEN_BYTES} bytes`,
        }),
      );
    const id = `e${this.epoch}c${++this.made}`;
    return new Promise((resolve) => {
      const settle = (answer: ScriptAnswer): void => {
        gone.removeEventListener('abort', leave);
        resolve(answer);
      };
      const leave = (): void => this.cancel(id, 'the script that made it has ended');
      const call = { id, commandId, ...request };
      this.open.set(id, { call, bytes, changedAt: ++this.changes, state: ASKED, settle });
      gone.addEventListener('abort', leave, { once: true });
      this.notify();
    });
  }

  /** Changes after `seen`, as soon as there are any, as many as fit; `over` ends the wait. */
  poll({ seen }: Verbs['calls']['request'], over: AbortSignal): Promise<Verbs['calls']['answer']> {
    return new Promise((resolve) => {
      const check = (): void => {
        const changed = this.changedAfter(seen);
        if (changed.length === 0 && !over.aborted) return;
        this.watchers.delete(check);
        over.removeEventListener('abort', check);
        resolve({
          version: changed.at(-1)?.changedAt ?? seen,
          calls: changed.filter(({ state }) => isOpen(state)).map(({ call }) => call),
          cancelled: changed.flatMap(cancellation),
        });
      };
      over.addEventListener('abort', check, { once: true });
      this.watchers.add(check);
      check();
    });
  }

  /**
   * Gives a script its answer; for a cancelled call, records that the cancellation is known. A second answer does
   * nothing.
   */
  answer({ id, answer }: Verbs['answer']['request']): Verbs['answer']['answer'] {
    const known = this.open.get(id);
    if (!known) return {};
    advance(known, { type: 'ended', outcome: answer });
    advance(known, { type: 'delivered' });
    this.open.delete(id);
    known.settle(answer);
    return {};
  }

  /** The shell and its scripts have ended: none of them calls again. */
  endEpoch(reason: string): void {
    this.tokens.clear();
    for (const id of [...this.open.keys()]) this.cancel(id, reason);
    this.epoch += 1;
    this.made = 0;
  }

  /** In order of change, at least one. Together they fit into a frame. */
  private changedAfter(seen: number): OpenCall[] {
    const changed = [...this.open.values()]
      .filter(({ changedAt }) => changedAt > seen)
      .sort((a, b) => a.changedAt - b.changedAt);
    let held = 0;
    const end = changed.findIndex(({ bytes }, index) => (held += bytes) > PAGE_BYTES && index > 0);
    return end < 0 ? changed : changed.slice(0, end);
  }

  private cancel(id: string, reason: string): void {
    const known = this.open.get(id);
    if (!known || !advance(known, { type: 'cancelled', reason })) return;
    known.changedAt = ++this.changes;
    // Not kept for a worker that may take long to arrive: only the name and the id.
    known.call = { ...known.call, args: {} };
    known.bytes = 0;
    void refused(new HoldfastError('call_cancelled', { tool: known.call.tool, reason }), id).then(
      known.settle,
    );
    this.notify();
  }

  private notify(): void {
    for (const check of [...this.watchers]) check();
  }
}

const cancellation = ({ call, state }: OpenCall): CancelledCall[] =>
  state.is === 'cancelled' ? [{ id: call.id, reason: state.reason }] : [];

function checkedBody(body: unknown): Pick<ScriptCall, 'tool' | 'args' | 'cwd'> | undefined {
  const { tool, args, cwd } = (body ?? {}) as Partial<ScriptCall>;
  const isCall =
    isText(tool, MAX_NAME_CHARS) &&
    typeof args === 'object' &&
    !Array.isArray(args) &&
    isText(cwd, MAX_CWD_CHARS);
  return isCall ? { tool, args: args ?? {}, cwd } : undefined;
}

const isText = (value: unknown, maxChars: number): value is string =>
  typeof value === 'string' && value.length <= maxChars;

/** In the form that scripts in any language understand. */
function refused(error: HoldfastError, callId: string | null = null): Promise<ScriptAnswer> {
  return Promise.resolve({ callId, ...error.toOutcome() });
}
