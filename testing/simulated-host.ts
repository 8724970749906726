// A host that runs nothing real: its commands do what the test says, and it records what it was asked.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { SessionRef } from '../contracts/ids';
import type { Key } from '../contracts/sessions/session';
import type { SecretUse } from '../contracts/tools/secrets';
import { contentHash } from '../exec/command-records';
import { SecretStore } from '../exec/host/secret-store';
import type { HostFacts, RunCommand, Terminals } from '../exec/terminals';
import type { CommandRecord, Snapshot, Until, Verbs } from '../exec/protocol';
import {
  answerFailed,
  checkedAnswer,
  type SimulatedAnswer,
  type SimulatedCommand,
  type SimulatedCommands,
} from './simulated-answer';
import { SimulatedSession, type OnInput } from './simulated-session';

/** A shell's exit code for an unknown command. */
const NOT_FOUND = 127;

/** The requests to the host, in order of arrival; a repetition under the same id is listed once. */
export class SimulatedHost {
  readonly commands: SimulatedCommand[] = [];
  readonly inputs: (SessionRef & { text: string | null; keys: Key[] })[] = [];
  readonly resets: (SessionRef & { reason: string | null })[] = [];
  readonly closed: (SessionRef & { reason: string | null })[] = [];

  /** Throws `invalid_input` for commands that could not be answered. */
  constructor(private readonly answers: SimulatedCommands) {
    if (typeof answers === 'function') return;
    if (typeof answers !== 'object' || (answers as unknown) === null)
      throw new HoldfastError('invalid_input', {
        what: 'What simulatedHost() takes',
        got: inspect(answers),
        allowed: 'an object with an answer for each command, or a function from the command to its answer',
        next: 'Write simulatedHost({ "make test": "3 passed\\n" }).',
      });
    for (const [code, answer] of Object.entries(answers)) checkedAnswer(answer, JSON.stringify(code));
  }

  /** What the command does. An unknown one ends with exit code 127. */
  answer(command: SimulatedCommand): SimulatedAnswer {
    const code = command.code.trim();
    const { answers } = this;
    const known =
      typeof answers === 'function'
        ? answers(command)
        : Object.hasOwn(answers, code)
          ? answers[code]
          : undefined;
    return known ?? { output: `simulated host: no answer for: ${code}\n`, exitCode: NOT_FOUND };
  }
}

/**
 * A host whose commands do what `answers` says. Give it to a test environment, whose `close()` throws the first error of
 * a function among them. Throws `invalid_input`.
 */
export const simulatedHost = (answers: SimulatedCommands = {}): SimulatedHost => new SimulatedHost(answers);

/**
 * Replaces the host's terminals, so that everything else is production code. No process owns its sessions: they are
 * neither listed nor open, keep no folder, and end with the workers. Its scripts call no tools.
 */
export class SimulatedTerminals implements Terminals {
  readonly options: HostFacts;
  private readonly secrets = new SecretStore({ env: {} });
  private readonly sessions = new Map<string, SimulatedSession>();
  private readonly recorded = new Set<string>();

  constructor(
    dataDir: string,
    private readonly simulated: SimulatedHost,
    /** Gets what the test's own code threw: the model and its agent cannot report it to the test. */
    private readonly onFault: (err: unknown) => void,
  ) {
    this.options = { dataDir, cwd: '/', env: {}, treeKill: 'process-search' };
    mkdirSync(join(dataDir, 'logs'), { recursive: true });
  }

  async run(ref: SessionRef, { id, runtime, code, mayBegin }: RunCommand): Promise<Snapshot> {
    if (!this.commandRecord(ref, id)) mayBegin?.();
    const request = { id, runtime, contentHash: contentHash(runtime, code) };
    return this.of(ref).run(request, ref.session, () => {
      const command = { ...ref, id, runtime, code };
      // An answer that failed is asked for again.
      this.once(`command ${id}`, ref, () => this.simulated.commands.push(command));
      return this.asked(JSON.stringify(code), () => this.simulated.answer(command));
    });
  }

  async open(ref: SessionRef): Promise<Snapshot> {
    return this.of(ref).snapshot();
  }

  async observe(ref: SessionRef, until: Until, signal?: AbortSignal): Promise<Verbs['observe']['answer']> {
    return this.of(ref).observe(until, signal);
  }

  async status(ref: SessionRef): Promise<Snapshot> {
    return this.of(ref).snapshot();
  }

  commandRecord(ref: SessionRef, id: string): CommandRecord | undefined {
    return this.of(ref).record(id);
  }

  async input(ref: SessionRef, request: Verbs['input']['request']): Promise<Verbs['input']['answer']> {
    return this.of(ref).input(request, ref.session, (onInput: OnInput | null, typed) => {
      const { id, text, keys } = request;
      this.once(`input ${id}`, ref, () => this.simulated.inputs.push({ ...ref, text, keys }));
      return onInput && this.asked(`the input ${JSON.stringify(typed)}`, () => onInput(typed));
    });
  }

  async reset(ref: SessionRef, { id, reason, by }: Verbs['reset']['request']): Promise<Snapshot> {
    if (!this.of(ref).hasReset(id)) this.simulated.resets.push({ ...ref, reason });
    return this.of(ref).reset(id, { by, reason });
  }

  async close(ref: SessionRef, reason: string | null): Promise<Snapshot> {
    this.simulated.closed.push({ ...ref, reason });
    return this.of(ref).reset(`close-${this.simulated.closed.length}`, { by: 'closed', reason });
  }

  logPath(ref: SessionRef): string {
    return join(this.options.dataDir, 'logs', `${ref.agent}.${ref.host}.${ref.session}`);
  }

  toolCalls(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  answerCall(): Promise<void> {
    return Promise.resolve();
  }

  closeOtherwiseConfined(): Promise<void> {
    return Promise.resolve();
  }

  list(): SessionRef[] {
    return [];
  }

  exists(): boolean {
    return false;
  }

  isOpen(): boolean {
    return false;
  }

  isClosed(): boolean {
    return true;
  }

  ownerOf(): undefined {
    return undefined;
  }

  secretsOf(ref: SessionRef, use: SecretUse, text: string): Promise<Record<string, string>> {
    return this.secrets.forText({ ...ref, use, text });
  }

  detach(): void {
    // Nothing is connected.
  }

  endSpare(): Promise<void> {
    return Promise.resolve();
  }

  /** The answer of the test's own code. A HoldfastError is one, too: so a host fails. */
  private asked(of: string, answer: () => unknown): SimulatedAnswer {
    let given: unknown;
    try {
      given = answer();
    } catch (err) {
      if (err instanceof HoldfastError) throw err;
      this.onFault(err);
      throw answerFailed(of, err);
    }
    try {
      return checkedAnswer(given, of);
    } catch (err) {
      this.onFault(err);
      throw err;
    }
  }

  private once(what: string, ref: SessionRef, record: () => void): void {
    const key = `${what} of ${this.logPath(ref)}`;
    if (this.recorded.has(key)) return;
    this.recorded.add(key);
    record();
  }

  private of(ref: SessionRef): SimulatedSession {
    const path = this.logPath(ref);
    const session = this.sessions.get(path) ?? new SimulatedSession(path);
    this.sessions.set(path, session);
    return session;
  }
}
