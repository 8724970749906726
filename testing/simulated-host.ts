// A host that runs nothing real: its commands do what the test says, and it records what it was asked.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionRef } from '../contracts/ids';
import type { Key } from '../contracts/sessions/session';
import { contentHash } from '../exec/command-records';
import { SessionHost, type RunCommand } from '../exec/host/session-host';
import type { CommandRecord, Snapshot, Until, Verbs } from '../exec/protocol';
import {
  SimulatedSession,
  type SimulatedAnswer,
  type SimulatedCommand,
  type SimulatedCommands,
} from './simulated-session';

/** A shell's exit code for an unknown command. */
const NOT_FOUND = 127;

/** The requests to the host, in order of arrival; a repetition under the same id is listed once. */
export class SimulatedHost {
  readonly commands: SimulatedCommand[] = [];
  readonly inputs: (SessionRef & { text: string | null; keys: Key[] })[] = [];
  readonly resets: (SessionRef & { reason: string | null })[] = [];
  readonly closed: (SessionRef & { reason: string | null })[] = [];

  constructor(private readonly answers: SimulatedCommands) {}

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

/** A host whose commands do what `answers` says. Give it to a test environment. */
export const simulatedHost = (answers: SimulatedCommands = {}): SimulatedHost => new SimulatedHost(answers);

/** Replaces the host's terminals, so that everything else is production code. */
export class SimulatedTerminals extends SessionHost {
  private readonly sessions = new Map<string, SimulatedSession>();

  constructor(
    dataDir: string,
    private readonly simulated: SimulatedHost,
  ) {
    super({ dataDir, cwd: '/', env: {}, treeKill: 'process-search' });
    mkdirSync(join(dataDir, 'logs'), { recursive: true });
  }

  override async run(ref: SessionRef, { id, runtime, code }: RunCommand): Promise<Snapshot> {
    const request = { id, runtime, contentHash: contentHash(runtime, code) };
    return this.of(ref).run(request, () => {
      const command = { ...ref, id, runtime, code };
      this.simulated.commands.push(command);
      return this.simulated.answer(command);
    });
  }

  override async open(ref: SessionRef): Promise<Snapshot> {
    return this.of(ref).snapshot();
  }

  override async observe(
    ref: SessionRef,
    until: Until,
    signal?: AbortSignal,
  ): Promise<Verbs['observe']['answer']> {
    return this.of(ref).observe(until, signal);
  }

  override async status(ref: SessionRef): Promise<Snapshot> {
    return this.of(ref).snapshot();
  }

  override commandRecord(ref: SessionRef, id: string): CommandRecord | undefined {
    return this.of(ref).record(id);
  }

  override async input(
    ref: SessionRef,
    request: Verbs['input']['request'],
  ): Promise<Verbs['input']['answer']> {
    const session = this.of(ref);
    const isNew = !session.hasInput(request.id);
    const answer = session.input(request, ref.session);
    if (isNew) this.simulated.inputs.push({ ...ref, text: request.text, keys: request.keys });
    return answer;
  }

  override async reset(ref: SessionRef, { id, reason, by }: Verbs['reset']['request']): Promise<Snapshot> {
    if (!this.of(ref).hasReset(id)) this.simulated.resets.push({ ...ref, reason });
    return this.of(ref).reset(id, { by, reason });
  }

  override async close(ref: SessionRef, reason: string | null): Promise<Snapshot> {
    this.simulated.closed.push({ ...ref, reason });
    return this.of(ref).reset(`close-${this.simulated.closed.length}`, { by: 'closed', reason });
  }

  override logPath(ref: SessionRef): string {
    return join(this.options.dataDir, 'logs', `${ref.agent}.${ref.host}.${ref.session}`);
  }

  private of(ref: SessionRef): SimulatedSession {
    const path = this.logPath(ref);
    const session = this.sessions.get(path) ?? new SimulatedSession(path);
    this.sessions.set(path, session);
    return session;
  }
}
