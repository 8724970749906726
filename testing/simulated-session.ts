// One session of a simulated host: a log and a state, changed by the test's scripted commands. The same code as for a
// real terminal turns them into answers.
import { appendFileSync } from 'node:fs';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { KEYS, type Key, type KilledBy, type Runtime } from '../contracts/sessions/session';
import { decide, type Facts } from '../exec/holder/waiting/observer';
import type { CommandRecord, Snapshot, Until, Verbs } from '../exec/protocol';
import type { SimulatedAnswer } from './simulated-answer';

export type OnInput = (input: string) => SimulatedAnswer;
/** The exit code of a shell whose foreground was interrupted: 128 and SIGINT. */
const INTERRUPTED = 130;

const CONTAINMENT = {
  treeKill: 'process-search',
  degraded: null,
  survivors: [],
} as const satisfies Partial<Snapshot>;

export class SimulatedSession {
  private readonly records = new Map<string, CommandRecord>();
  private readonly inputs = new Map<string, number>();
  private readonly resets = new Set<string>();
  private readonly observers = new Set<() => void>();
  private command: CommandRecord | null = null;
  private onInput: OnInput | null = null;
  /** When it began to wait, each time at another one. */
  private waitsSince = 0;
  private echo = true;
  private epoch = 1;
  private isFresh = false;
  private end = 0;

  constructor(private readonly logPath: string) {}

  snapshot(command = this.command): Snapshot {
    const since = new Date(this.waitsSince).toISOString();
    const waiting = this.onInput && ({ echo: this.echo, certainty: 'certain', since } as const);
    return { command, epoch: this.epoch, end: this.end, waiting, ...CONTAINMENT };
  }

  hasReset(id: string): boolean {
    return this.resets.has(id);
  }

  record(id: string): CommandRecord | undefined {
    return this.records.get(id);
  }

  run(
    request: { id: string; runtime: Runtime; contentHash: string },
    session: number,
    answer: () => SimulatedAnswer,
  ): Snapshot {
    const known = this.records.get(request.id);
    if (known && known.contentHash !== request.contentHash)
      throw new HoldfastError('id_conflict', { got: request.id });
    if (known) return this.snapshot(known);
    if (this.isRunning) throw new HoldfastError('busy', { session, from: this.command?.from ?? 0 });
    // First: if the test itself throws, nothing has begun.
    const first = answer();
    const ending = { to: null, exitCode: null, signal: null, killedBy: null, endedAt: null, lost: false };
    const { epoch, isFresh: freshShell, end: from } = this;
    this.keep({ ...request, epoch, freshShell, from, startedAt: Date.now(), ...ending });
    this.isFresh = false;
    this.go(first);
    return this.snapshot();
  }

  /** `answer`: what the test says to the text; it may throw, and is not asked about a repetition. */
  input(
    { id, text, keys, prompt }: Verbs['input']['request'],
    session: number,
    answer: (onInput: OnInput | null, text: string) => SimulatedAnswer | null,
  ): Verbs['input']['answer'] {
    const before = this.inputs.get(id);
    if (before !== undefined) return { at: before, snapshot: this.snapshot() };
    if (!this.isRunning) throw new HoldfastError('no_running_process', { session });
    const isSeen =
      !prompt || (prompt.command === this.command?.id && Date.parse(prompt.since) === this.waitsSince);
    if (!isSeen) throw new HoldfastError('prompt_over', { session });
    const at = this.end;
    const isInterrupt = keys.includes('ctrl-c');
    const typed = (text ?? '') + keys.map((key: Key) => KEYS[key]).join('');
    // First: if the test itself throws, nothing was typed.
    const next = answer(isInterrupt ? null : this.onInput, typed);
    this.inputs.set(id, at);
    if (isInterrupt) {
      this.finish({ exitCode: INTERRUPTED, killedBy: null });
    } else {
      if (this.echo) this.print(`${text ?? ''}\n`);
      if (next !== null) this.go(next);
    }
    return { at, snapshot: this.snapshot() };
  }

  reset(id: string, killedBy: KilledBy): Snapshot {
    if (this.resets.has(id)) return this.snapshot();
    this.resets.add(id);
    this.finish({ exitCode: null, killedBy });
    this.epoch += 1;
    this.isFresh = true;
    return this.snapshot();
  }

  /** Never makes a test wait: a command that does not end yields at once. */
  observe(until: Until, signal?: AbortSignal): Promise<Verbs['observe']['answer']> {
    const observedSince = Date.now();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const stop = (): void => {
        clearTimeout(timer);
        this.observers.delete(check);
      };
      const check = (): void => {
        clearTimeout(timer);
        const outcome = this.outcome(until, observedSince);
        if ('at' in outcome) {
          timer = setTimeout(check, Math.min(outcome.at - Date.now(), 2 ** 31 - 1));
        } else {
          stop();
          resolve({ ...outcome, snapshot: this.snapshot() });
        }
      };
      signal?.throwIfAborted();
      signal?.addEventListener('abort', () => (stop(), reject(signal.reason as Error)), { once: true });
      this.observers.add(check);
      check();
    });
  }

  private get isRunning(): boolean {
    return this.command !== null && this.command.endedAt === null;
  }

  private outcome(until: Until, observedSince: number): ReturnType<typeof decide> {
    const { waiting, end } = this.snapshot();
    if (until.kind === 'yield' && this.isRunning) return { reason: waiting ? 'waiting_input' : 'max' };
    const still = { startedAt: 0, lastOutputAt: 0, promptIsBack: false, waitingSince: 0 };
    const facts: Facts = { ...still, now: Date.now(), running: this.isRunning, end, waiting, observedSince };
    return decide(until, facts);
  }

  private go(answer: SimulatedAnswer): void {
    const stage = typeof answer === 'string' ? { output: answer } : answer;
    this.print(stage.output ?? '');
    this.onInput = 'onInput' in stage ? stage.onInput : null;
    this.waitsSince = Math.max(Date.now(), this.waitsSince + 1);
    this.echo = !('echo' in stage && stage.echo === false);
    if ('onInput' in stage || 'hangs' in stage) this.notify();
    else this.finish({ exitCode: 'exitCode' in stage ? (stage.exitCode ?? 0) : 0, killedBy: null });
  }

  private finish(end: { exitCode: number | null; killedBy: KilledBy | null }): void {
    if (!this.command || !this.isRunning) return;
    this.onInput = null;
    this.echo = true;
    const signal = end.killedBy ? 'SIGKILL' : null;
    this.keep({ ...this.command, ...end, signal, to: this.end, endedAt: Date.now() });
    this.notify();
  }

  private keep(record: CommandRecord): void {
    this.command = record;
    this.records.set(record.id, record);
  }

  private print(text: string): void {
    appendFileSync(this.logPath, text);
    this.end += Buffer.byteLength(text);
  }

  private notify(): void {
    for (const check of [...this.observers]) check();
  }
}
