// The host's sessions in real terminals: finds or starts holders, and reports the fate of those that died. Knows nothing
// about Temporal; the host worker's activities are thin wrappers around this.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError, asHoldfastError } from '../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../contracts/ids';
import { isPassing } from '../../contracts/errors/passing';
import type { SecretUse } from '../../contracts/tools/secrets';
import { checkContent, CommandRecords, contentHash } from '../command-records';
import { deadSnapshot, settled } from './holders/dead-session';
import {
  endLeftOver,
  endUnreachable,
  hasLeftOver,
  rememberReset,
  runningMarks,
  wasReset,
} from './holders/end-unreachable';
import { HolderGone } from '../client/holder-client';
import { HolderConnections } from '../client/holder-connections';
import { HolderPulse, unreachedSince } from '../client/holder-pulse';
import { readJson } from '../../system/json-file';
import { removeDeadHolder } from './holders/left-over';
import { isAlive } from '../../system/processes/process-identity';
import type { CommandRecord, Snapshot, Until, Verbs } from '../protocol';
import { listSessions, sessionPaths, type SessionPaths } from '../session-paths';
import { SecretStore } from './secret-store';
import { profileOf } from '../own-folder';
import { rightsOf, type SandboxProfile } from '../sandbox/profile';
import type { StubFolder } from './stub-folder';
import type { HostFacts, RunCommand, Terminals } from '../terminals';
import { SpareHolder } from './holders/spare-holder';
import { containment, type HolderConfig } from '../holder-config';
import { spawnHolder } from './holders/spawn-holder';
import { asStorageFailure } from '../../system/storage-failure';
import { MAX_SESSIONS_PER_AGENT, type KilledBy } from '../../contracts/sessions/session';

const ATTEMPTS = 3;
/** Ending a tree takes less: a holder that is not done by then hangs, even if it answers. */
const END_MS = 8_000;
/** A holder that has ended its session exits within a moment; nothing of the session depends on it. */
const CLOSED_MS = 5_000;
const NAMED_CLOSABLE = 10;

export interface SessionHostOptions extends HostFacts {
  /** Stubs through which scripts call tools; without them scripts cannot. */
  stubs?: StubFolder | undefined;
  /** The values for `{{secret:NAME}}` in code and input; without it no name is known. */
  secrets?: SecretStore | undefined;
  /** Says which server and namespace run the workflows of sessions that are opened now; undefined if that is not known. */
  owner?: (() => Promise<string | undefined>) | undefined;
  /** Keeps a holder with an open shell ready for the next session. Default false. */
  keepSpare?: boolean | undefined;
  /** Maximum number of open sessions per agent. Default 64. */
  maxSessionsPerAgent?: number | undefined;
  /** Maximum log size, in bytes, of sessions opened from now on. */
  logBytes?: number | undefined;
}

/** A session that the host itself has ended, because its holder did not answer. */
interface Killed {
  /** The holder's pid. */
  pid: number;
  why: string;
}

interface Closed {
  snapshot: Snapshot;
  killed?: Killed | undefined;
}

/** The outcome for one session of a bulk close. */
export interface ClosedSession {
  ref: SessionRef;
  killed: Killed | undefined;
  /** Processes of it that still run. */
  survivors: number[];
  failure: HoldfastError | null;
}

export class SessionHost implements Terminals {
  private readonly connections: HolderConnections;
  /** Folders of sessions whose holder is starting, with the agents that own them. */
  private readonly opening = new Map<string, string>();
  private readonly spare: SpareHolder | undefined;
  readonly options: SessionHostOptions;

  constructor(options: SessionHostOptions) {
    this.options = options.sandbox ? { ...options, treeKill: 'user-pid-namespace' } : options;
    this.connections = new HolderConnections(options.dataDir);
    if (options.keepSpare) this.spare = new SpareHolder(this.options);
    this.spare?.prepare();
  }

  async run(ref: SessionRef, command: RunCommand, attempt = 1): Promise<Snapshot> {
    const { cwd, mayBegin, ...given } = command;
    const { id, runtime, code } = given;
    const paths = this.paths(ref);
    const holder = await this.connections.find(ref);
    if (!holder) {
      const known = new CommandRecords(paths.commands).read(id);
      if (known) checkContent(known, contentHash(runtime, code));
      // Its holder is dead: the command ran or was lost, and must not run again.
      if (known) return { ...this.deadSnapshot(ref), command: settled(paths, known) };
      this.deadSnapshot(ref);
    }
    const isKnown = this.commandRecord(ref, id) !== undefined;
    const values = isKnown ? {} : await this.secretsOf(ref, 'command', code);
    if (!isKnown) mayBegin?.();
    try {
      const client = holder ?? (await this.openHolder(ref, cwd));
      if (Object.keys(values).length > 0) await client.request('secrets', { values });
      const tools = this.options.stubs?.folder;
      const request = { ...given, contentHash: contentHash(runtime, code), tools };
      // Again: it may have been given up while the holder started, or took the secrets.
      return await client.request('run', request, undefined, isKnown ? undefined : mayBegin);
    } catch (err) {
      if (!(err instanceof HolderGone)) throw err;
      // The record shows whether it reached the shell: then it is lost, otherwise it runs in a new one.
      if (attempt < ATTEMPTS) return this.run(ref, command, attempt + 1);
      const identity = this.connections.processOf(ref);
      const why = 'it closes every connection at once';
      if (identity) throw unreachedSince(ref.session, identity, { why, since: Date.now() });
      throw endedAgain(attempt, err);
    }
  }

  async open(ref: SessionRef, cwd: string | null, mayBegin?: () => void): Promise<Snapshot> {
    for (let attempt = 1; !(await this.connections.find(ref)); attempt++) {
      mayBegin?.();
      try {
        await this.openHolder(ref, cwd);
      } catch (err) {
        if (!(err instanceof HolderGone)) throw err;
        if (attempt === ATTEMPTS) throw endedAgain(attempt, err);
      }
    }
    return this.status(ref);
  }

  /** Waits at the holder. If the holder dies, answers with the lost command. */
  async observe(ref: SessionRef, until: Until, signal?: AbortSignal): Promise<Verbs['observe']['answer']> {
    const answer = await this.connections.ask(ref, 'observe', { until }, signal);
    return answer ?? { reason: 'exit', snapshot: this.deadSnapshot(ref) };
  }

  async status(ref: SessionRef): Promise<Snapshot> {
    return (await this.connections.ask(ref, 'status', {})) ?? this.deadSnapshot(ref);
  }

  commandRecord(ref: SessionRef, id: string): CommandRecord | undefined {
    const { commands } = this.paths(ref);
    return existsSync(commands) ? new CommandRecords(commands).read(id) : undefined;
  }

  async input(
    ref: SessionRef,
    request: Verbs['input']['request'],
  ): Promise<Verbs['input']['answer'] | undefined> {
    const values = await this.secretsOf(ref, 'input', request.text ?? '');
    if (Object.keys(values).length > 0) await this.connections.ask(ref, 'secrets', { values });
    return this.connections.ask(ref, 'input', request);
  }

  toolCalls(
    ref: SessionRef,
    seen: number,
    signal: AbortSignal,
  ): Promise<Verbs['calls']['answer'] | undefined> {
    return this.connections.ask(ref, 'calls', { seen }, signal);
  }

  async answerCall(ref: SessionRef, request: Verbs['answer']['request']): Promise<void> {
    await this.connections.ask(ref, 'answer', request);
  }

  /** Ends everything that runs in the session: through its holder, or directly if that does not answer. */
  async reset(ref: SessionRef, request: Verbs['reset']['request']): Promise<Snapshot> {
    const paths = this.paths(ref);
    if (wasReset(paths, request.id)) return this.status(ref);
    const { by, reason } = request;
    const { answer, killed, survivors } = await this.end(ref, { by, reason: reason ?? null }, (signal) =>
      this.connections.ask(ref, 'reset', request, signal),
    );
    if (killed) rememberReset(paths, request.id);
    return answer ?? { ...this.deadSnapshot(ref), survivors };
  }

  /** Ends the session's tree and its holder; the log stays. */
  async close(ref: SessionRef, reason: string | null): Promise<Snapshot> {
    return (await this.closing(ref, reason)).snapshot;
  }

  private async closing(ref: SessionRef, reason: string | null): Promise<Closed> {
    const holder = this.connections.processOf(ref);
    const killedBy = { by: 'closed', reason } as const;
    const { answer, killed, survivors } = await this.end(ref, killedBy, (signal) =>
      this.connections.ask(ref, 'close', { reason }, signal),
    );
    this.connections.forget(ref);
    const until = performance.now() + CLOSED_MS;
    while (answer && holder && isAlive(holder) && performance.now() < until) await delay(5);
    await removeDeadHolder(this.paths(ref));
    return { snapshot: answer ?? { ...this.deadSnapshot(ref), survivors }, killed };
  }

  /** Ends every session of which something runs, as far as possible, and reports how for each; their logs stay. */
  async closeAll(reason: string): Promise<ClosedSession[]> {
    const marks = runningMarks();
    const closed = await Promise.all(
      this.list()
        .filter((ref) => this.isOpen(ref) || hasLeftOver(this.paths(ref), marks))
        .map(async (ref) => {
          try {
            const { killed, snapshot } = await this.closing(ref, reason);
            return { ref, killed, survivors: snapshot.survivors, failure: null };
          } catch (err) {
            const failure = asHoldfastError(asStorageFailure(err));
            return { ref, killed: undefined, survivors: [], failure };
          }
        }),
    );
    // Removes leftovers of killed holders.
    await Promise.all(this.list().map((ref) => removeDeadHolder(this.paths(ref))));
    return closed;
  }

  /** Asks the holder to end something, and does it directly if the holder is dead or does not do so in time. */
  private async end(
    ref: SessionRef,
    killedBy: KilledBy,
    ask: (signal: AbortSignal) => Promise<Snapshot | undefined>,
  ): Promise<{ answer?: Snapshot; killed?: Killed; survivors: number[] }> {
    const holder = this.connections.processOf(ref);
    try {
      const answer = await ask(AbortSignal.timeout(END_MS));
      if (answer) return { answer, survivors: [] };
    } catch (err) {
      const late = (err as Error).name === 'TimeoutError';
      if (!holder || !(late || isPassing(err))) throw err;
      const { state, reason } = err instanceof HoldfastError ? err.facts : {};
      const why = late ? `it was not done within ${END_MS} ms` : String(state ?? reason);
      const { pid } = holder;
      const said = `${killedBy.reason ?? killedBy.by}; its holder (pid ${pid}) was killed: ${why}`;
      const left = await endUnreachable(this.paths(ref), holder, { ...killedBy, reason: said });
      this.connections.forget(ref);
      return { killed: { pid, why }, survivors: left.map((one) => one.pid) };
    }
    return { survivors: await endLeftOver(this.paths(ref)) };
  }

  async closeOtherwiseConfined(host: string, reason: string): Promise<void> {
    const isOtherwise = (ref: SessionRef): boolean =>
      JSON.stringify(rightsOf(readJson<HolderConfig>(this.paths(ref).config)?.sandbox)) !==
      JSON.stringify(rightsOf(this.profileOf(ref)));
    const others = this.list().filter((ref) => ref.host === host && this.isOpen(ref) && isOtherwise(ref));
    await Promise.all(others.map((ref) => this.close(ref, reason)));
  }

  list(): SessionRef[] {
    return listSessions(this.options.dataDir);
  }

  exists(ref: SessionRef): boolean {
    return existsSync(this.paths(ref).directory);
  }

  /** Whether a living holder owns the session. */
  isOpen(ref: SessionRef): boolean {
    return this.connections.processOf(ref) !== undefined;
  }

  /** Whether it has no holder, and none is being started. */
  isClosed(ref: SessionRef): boolean {
    return !this.isOpen(ref) && !this.opening.has(this.paths(ref).directory);
  }

  ownerOf(ref: SessionRef): string | undefined {
    return readJson<HolderConfig>(this.paths(ref).config)?.owner;
  }

  logPath(ref: SessionRef): string {
    return this.paths(ref).log;
  }

  detach(): void {
    this.connections.closeAll();
  }

  async endSpare(): Promise<void> {
    await this.spare?.close();
  }

  secretsOf(ref: SessionRef, use: SecretUse, text: string): Promise<Record<string, string>> {
    const { secrets = new SecretStore({ env: {} }) } = this.options;
    return secrets.forText({ ...ref, use, text });
  }

  private paths(ref: SessionRef): SessionPaths {
    return sessionPaths(this.options.dataDir, ref);
  }

  private async openHolder(ref: SessionRef, cwd: string | null | undefined): Promise<HolderPulse> {
    const paths = this.paths(ref);
    // Among concurrent callers that found no holder, the first one starts it: a session has only one holder.
    const known = this.opening.has(paths.directory) ? this.connections.made(ref) : undefined;
    if (known) return known;
    // Another caller may have started it since this one looked: a secret may take long to get.
    if (this.isOpen(ref)) return (await this.connections.find(ref)) ?? this.openHolder(ref, cwd);
    const connecting = this.startHolder(ref, paths, cwd ?? this.options.cwd);
    this.connections.keep(ref, connecting);
    return connecting;
  }

  private async startHolder(ref: SessionRef, paths: SessionPaths, cwd: string): Promise<HolderPulse> {
    this.opening.set(paths.directory, ref.agent);
    try {
      await this.checkLimit(ref);
      const sandbox = this.profileOf(ref);
      // A spare is confined like most sessions.
      const spare = sandbox === this.options.sandbox ? this.spare : undefined;
      const owner = await this.options.owner?.();
      const options = { ...this.options, cwd, sandbox, spare, owner };
      // What a killed holder has left may hold a port, and the new one overwrites the record of it.
      await endLeftOver(paths);
      return await HolderPulse.connect(await spawnHolder(ref, paths, options), ref.session);
    } catch (err) {
      throw asStorageFailure(err, 'nothing was run');
    } finally {
      this.opening.delete(paths.directory);
    }
  }

  private profileOf(ref: SessionRef): SandboxProfile | undefined {
    const { sandbox } = this.options;
    return sandbox && profileOf(sandbox, ref);
  }

  /** Throws `session_limit`, which names idle sessions, if the agent has reached its limit. */
  private async checkLimit(ref: SessionRef): Promise<void> {
    const { agent } = ref;
    const limit = this.options.maxSessionsPerAgent ?? MAX_SESSIONS_PER_AGENT;
    const open = this.list().filter((other) => other.agent === agent && this.isOpen(other));
    // Among sessions that open at the same time, the first come first.
    const starting = [...this.opening.keys()];
    const before = starting
      .slice(0, starting.indexOf(this.paths(ref).directory))
      .filter((directory) => this.opening.get(directory) === agent);
    const taken = new Set([...open.map((other) => this.paths(other).directory), ...before]);
    if (taken.size < limit) return;
    const idle: number[] = [];
    for (const other of open.sort((a, b) => a.session - b.session)) {
      if (idle.length === NAMED_CLOSABLE) break;
      // One that does not answer is not idle.
      const found = await this.status(other).catch(() => undefined);
      if (!found) continue;
      const { command } = found;
      if (command === null || command.endedAt !== null) idle.push(other.session);
    }
    throw new HoldfastError('session_limit', { agent, allowed: limit, closable: idle.join(', ') });
  }

  private deadSnapshot(ref: SessionRef): Snapshot {
    return deadSnapshot(this.paths(ref), containment(this.options));
  }
}

const endedAgain = (times: number, { message }: HolderGone): HoldfastError =>
  new HoldfastError('terminal_failed', { reason: `its holder ended ${times} times: ${message}` });
