// The host's side of its sessions: finds or starts holders, and tells the truth about those that died.
// Knows no Temporal; the host worker's activities are thin wrappers around this.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../contracts/errors';
import type { SessionRef } from '../contracts/ids';
import type { SecretUse } from '../contracts/secrets';
import type { CodeImport } from '../contracts/package-names';
import { CommandRecords, contentHash } from './command-records';
import { HolderClient, HolderGone, type HolderRecord } from './holder-client';
import { readJson } from './json-file';
import { isAlive } from './process-identity';
import type { CommandRecord, Snapshot, Until, Verb, Verbs } from './protocol';
import { parseSessionDirectory, sessionPaths, sessionsDirectory, type SessionPaths } from './session-paths';
import { SecretStore } from './secret-store';
import type { SandboxProfile } from './sandbox/profile';
import type { StubFolder } from './stub-folder';
import { SpareHolder } from './spare-holder';
import { containment, spawnHolder, type HolderConfig } from './spawn-holder';
import type { Runtime, TreeKill } from '../contracts/session';

const ATTEMPTS = 3;
const GONE_MS = 1_000;
const CONNECT_MS = 5_000;
/** A holder that has ended its session ends itself within a moment; nothing of the session depends on it. */
const CLOSED_MS = 5_000;
/** Each open session is a process with its shell: an agent that forgets them must not fill the host. */
const MAX_SESSIONS_PER_AGENT = 64;
const NAMED_CLOSABLE = 10;

export interface SessionHostOptions {
  dataDir: string;
  /** Working folder of new shells. */
  cwd: string;
  /** The whole environment of new shells: nothing else is inherited. */
  env: Record<string, string>;
  treeKill: TreeKill;
  /** What shells may do; its namespace takes the place of the tree kill's. Default: all that their user may. */
  sandbox?: SandboxProfile | undefined;
  /** Which server and namespace have the workflows of the sessions that are opened here. */
  owner?: string | undefined;
  /** By which scripts call tools; without them they do not. */
  stubs?: StubFolder | undefined;
  /** What `{{secret:NAME}}` in code and input stands for; without it no name is known. */
  secrets?: SecretStore | undefined;
  /** Keeps a holder with an open shell ready for the next session. Default false. */
  keepSpare?: boolean | undefined;
  /** Most open sessions of one agent. Default 64. */
  maxSessionsPerAgent?: number | undefined;
}

export interface RunCommand {
  id: string;
  runtime: Runtime;
  code: string;
  /** Working folder, for a session that has no holder yet. */
  cwd?: string | null | undefined;
  /** Runs nothing where an import is not installed; of nodejs these are looked for (`importsOf` of checks/). */
  checkImports?: CodeImport[] | undefined;
}

export class SessionHost {
  private readonly clients = new Map<string, Promise<HolderClient>>();
  /** Folders of sessions whose holder is just starting, and whose they are. */
  private readonly opening = new Map<string, string>();

  private readonly spare: SpareHolder | undefined;

  readonly options: SessionHostOptions;

  constructor(options: SessionHostOptions) {
    this.options = options.sandbox ? { ...options, treeKill: 'user-pid-namespace' } : options;
    if (options.keepSpare) this.spare = new SpareHolder(this.options);
    this.spare?.prepare();
  }

  /** Starts a command, opening the session where needed; a known id answers with its record. */
  async run(ref: SessionRef, command: RunCommand, attempt = 1): Promise<Snapshot> {
    const { id, runtime, code, cwd, checkImports } = command;
    const paths = this.paths(ref);
    const holder = await this.findHolder(ref);
    if (!holder) {
      const known = new CommandRecords(paths.commands).read(id);
      // Its holder is dead: it ran or was lost, and must not run again.
      if (known) return { ...this.deadSnapshot(ref), command: this.settled(paths, known) };
      this.deadSnapshot(ref);
    }
    const values = this.commandRecord(ref, id) ? {} : await this.secretsOf(ref, 'command', code);
    const client = holder ?? (await this.openHolder(ref, cwd));
    try {
      await giveSecrets(values, () => client.request('secrets', { values }), true);
      const tools = this.options.stubs?.folder;
      const request = { id, runtime, code, contentHash: contentHash(runtime, code) };
      return await client.request('run', {
        ...request,
        ...(checkImports && { checkImports }),
        ...(tools !== undefined && { tools }),
      });
    } catch (err) {
      if (!(err instanceof HolderGone)) throw err;
      // The record tells whether it got as far as the shell: then it is lost, else it runs in a new one.
      if (attempt < ATTEMPTS) return this.run(ref, command, attempt + 1);
      throw new HoldfastError('terminal_failed', {
        reason: `its holder ended ${attempt} times: ${err.message}`,
      });
    }
  }

  /** Opens the terminal where none is open. Throws as `run`. */
  async open(ref: SessionRef, cwd: string | null): Promise<Snapshot> {
    if (!(await this.findHolder(ref))) await this.openHolder(ref, cwd);
    return this.status(ref);
  }

  /** Waits at the holder. When the holder dies, answers with the lost command. */
  async observe(ref: SessionRef, until: Until, signal?: AbortSignal): Promise<Verbs['observe']['answer']> {
    const answer = await this.ask(ref, 'observe', { until }, signal);
    return answer ?? { reason: 'exit', snapshot: this.deadSnapshot(ref) };
  }

  async status(ref: SessionRef): Promise<Snapshot> {
    return (await this.ask(ref, 'status', {})) ?? this.deadSnapshot(ref);
  }

  /** What became of one command. */
  commandRecord(ref: SessionRef, id: string): CommandRecord | undefined {
    return new CommandRecords(this.paths(ref).commands).read(id);
  }

  /** Types into the running process. Undefined when the session has no terminal. */
  async input(
    ref: SessionRef,
    request: Verbs['input']['request'],
  ): Promise<Verbs['input']['answer'] | undefined> {
    const values = await this.secretsOf(ref, 'input', request.text ?? '');
    await giveSecrets(values, () => this.ask(ref, 'secrets', { values }), this.isOpen(ref));
    return this.ask(ref, 'input', request);
  }

  /** What became of the calls of a session's scripts since `seen`; undefined when the session has no terminal. */
  toolCalls(
    ref: SessionRef,
    seen: number,
    signal: AbortSignal,
  ): Promise<Verbs['calls']['answer'] | undefined> {
    return this.ask(ref, 'calls', { seen }, signal);
  }

  /** Gives a script the answer of its call; nothing where its session is gone. */
  async answerCall(ref: SessionRef, request: Verbs['answer']['request']): Promise<void> {
    await this.ask(ref, 'answer', request);
  }

  async reset(ref: SessionRef, request: Verbs['reset']['request']): Promise<Snapshot> {
    return (await this.ask(ref, 'reset', request)) ?? this.deadSnapshot(ref);
  }

  /** Ends the session's tree and its holder; the log stays. */
  async close(ref: SessionRef, reason: string | null): Promise<Snapshot> {
    const holder = readJson<HolderRecord>(this.paths(ref).holder);
    const answer = await this.ask(ref, 'close', { reason });
    this.forget(ref);
    const until = Date.now() + CLOSED_MS;
    while (answer && holder && isAlive(holder.identity) && Date.now() < until) await delay(5);
    return answer ?? this.deadSnapshot(ref);
  }

  /** Ends every open session and returns how many there were; their logs stay. */
  async closeAll(reason: string): Promise<number> {
    const open = this.list().filter((ref) => this.isOpen(ref));
    await Promise.all(open.map((ref) => this.close(ref, reason)));
    return open.length;
  }

  /** Ends the open sessions of `host` whose shells may do other things than those that are opened from now on. */
  async closeOtherwiseConfined(host: string, reason: string): Promise<void> {
    const profile = JSON.stringify(this.options.sandbox);
    const others = this.list().filter(
      (ref) =>
        ref.host === host &&
        this.isOpen(ref) &&
        JSON.stringify(readJson<HolderConfig>(this.paths(ref).config)?.sandbox) !== profile,
    );
    await Promise.all(others.map((ref) => this.close(ref, reason)));
  }

  /** All sessions that have a folder here. */
  list(): SessionRef[] {
    const directory = sessionsDirectory(this.options.dataDir);
    if (!existsSync(directory)) return [];
    return readdirSync(directory)
      .map(parseSessionDirectory)
      .filter((ref) => ref !== undefined);
  }

  /** Whether the session was ever opened here. */
  exists(ref: SessionRef): boolean {
    return existsSync(this.paths(ref).directory);
  }

  /** Whether a living holder owns the session. */
  isOpen(ref: SessionRef): boolean {
    const record = readJson<HolderRecord>(this.paths(ref).holder);
    return record !== undefined && isAlive(record.identity);
  }

  /** Which server and namespace have the workflow of a session, as its opening said; undefined when it did not. */
  ownerOf(ref: SessionRef): string | undefined {
    return readJson<HolderConfig>(this.paths(ref).config)?.owner;
  }

  logPath(ref: SessionRef): string {
    return this.paths(ref).log;
  }

  /** Closes the connections; the sessions go on. */
  detach(): void {
    for (const client of this.clients.values())
      void client.then(
        (c) => c.close(),
        () => undefined,
      );
    this.clients.clear();
  }

  /** Resolves when no spare holder is left. */
  async endSpare(): Promise<void> {
    await this.spare?.close();
  }

  private secretsOf(ref: SessionRef, use: SecretUse, text: string): Promise<Record<string, string>> {
    const { secrets = new SecretStore({ env: {} }) } = this.options;
    return secrets.forText({ ...ref, use, text });
  }

  private paths(ref: SessionRef): SessionPaths {
    return sessionPaths(this.options.dataDir, ref);
  }

  /** Undefined when no holder lives; one that dies before it answers counts as dead. */
  private async ask<V extends Verb>(
    ref: SessionRef,
    verb: V,
    body: Verbs[V]['request'],
    signal?: AbortSignal,
  ): Promise<Verbs[V]['answer'] | undefined> {
    for (let attempt = 1; ; attempt++) {
      const client = await this.findHolder(ref);
      try {
        return await client?.request(verb, body, signal);
      } catch (err) {
        if (!(err instanceof HolderGone) || attempt === ATTEMPTS) throw err;
        await this.untilGone(ref);
      }
    }
  }

  /** Its socket closes a moment before the process of a killed holder is gone. */
  private async untilGone(ref: SessionRef): Promise<void> {
    const until = Date.now() + GONE_MS;
    while (this.isOpen(ref) && Date.now() < until) await delay(5);
  }

  private async findHolder(ref: SessionRef): Promise<HolderClient | undefined> {
    const key = this.paths(ref).directory;
    const known = this.clients.get(key);
    if (known) {
      const client = await known.catch(() => undefined);
      if (client?.isOpen) return client;
      if (this.clients.get(key) === known) this.clients.delete(key);
      return this.findHolder(ref);
    }
    const record = readJson<HolderRecord>(this.paths(ref).holder);
    if (!record || !isAlive(record.identity)) return undefined;
    const connecting = this.connect(ref, record);
    this.clients.set(key, connecting);
    try {
      return await connecting;
    } catch (err) {
      this.clients.delete(key);
      if (err instanceof HolderGone) return undefined;
      throw err;
    }
  }

  /** Only a dead process makes a holder dead: one that lives owns the terminal, whatever its socket says. */
  private async connect(ref: SessionRef, record: HolderRecord): Promise<HolderClient> {
    const until = Date.now() + CONNECT_MS;
    for (;;) {
      try {
        return await HolderClient.connect(record);
      } catch (err) {
        if (!isAlive(record.identity)) throw err;
        if (Date.now() > until) {
          const reason = `the holder of session ${ref.session} lives but takes no connection`;
          throw new HoldfastError('terminal_failed', { reason });
        }
        await delay(50);
      }
    }
  }

  private async openHolder(ref: SessionRef, cwd: string | null | undefined): Promise<HolderClient> {
    const paths = this.paths(ref);
    // Of those that found none in the same moment the first one starts it: one session has one holder.
    const known = this.opening.has(paths.directory) ? this.clients.get(paths.directory) : undefined;
    if (known) return known;
    const connecting = this.startHolder(ref, paths, cwd ?? this.options.cwd);
    this.clients.set(paths.directory, connecting);
    return connecting;
  }

  private async startHolder(ref: SessionRef, paths: SessionPaths, cwd: string): Promise<HolderClient> {
    this.opening.set(paths.directory, ref.agent);
    try {
      await this.checkLimit(ref);
      return await HolderClient.connect(
        await spawnHolder(ref, paths, { ...this.options, cwd, spare: this.spare }),
      );
    } finally {
      this.opening.delete(paths.directory);
    }
  }

  /** Throws `session_limit`, which names idle sessions, when the agent has as many as it may have. */
  private async checkLimit(ref: SessionRef): Promise<void> {
    const { agent } = ref;
    const limit = this.options.maxSessionsPerAgent ?? MAX_SESSIONS_PER_AGENT;
    const open = this.list().filter((other) => other.agent === agent && this.isOpen(other));
    // Of those that open at the same time, the first come first.
    const starting = [...this.opening.keys()];
    const before = starting
      .slice(0, starting.indexOf(this.paths(ref).directory))
      .filter((directory) => this.opening.get(directory) === agent);
    const taken = new Set([...open.map((other) => this.paths(other).directory), ...before]);
    if (taken.size < limit) return;
    const idle: number[] = [];
    for (const other of open.sort((a, b) => a.session - b.session)) {
      if (idle.length === NAMED_CLOSABLE) break;
      const { command } = await this.status(other);
      if (command === null || command.endedAt !== null) idle.push(other.session);
    }
    throw new HoldfastError('session_limit', { agent, allowed: limit, closable: idle.join(', ') });
  }

  private forget(ref: SessionRef): void {
    const key = this.paths(ref).directory;
    void this.clients.get(key)?.then(
      (client) => client.close(),
      () => undefined,
    );
    this.clients.delete(key);
  }

  /** The state of a session whose holder is dead or was never there. A command without an end is lost. */
  private deadSnapshot(ref: SessionRef): Snapshot {
    const paths = this.paths(ref);
    const latest = existsSync(paths.commands) ? new CommandRecords(paths.commands).latest() : undefined;
    return {
      command: latest ? this.settled(paths, latest) : null,
      epoch: Number(existsSync(paths.epoch) ? readFileSync(paths.epoch, 'utf8') : 0) + 1,
      end: logSize(paths),
      waiting: null,
      ...containment(this.options),
    };
  }

  private settled(paths: SessionPaths, record: CommandRecord): CommandRecord {
    if (record.endedAt !== null) return record;
    const killedBy = { by: 'host_lost' as const, reason: 'the process that held the terminal died' };
    const lost = { ...record, to: logSize(paths), endedAt: Date.now(), lost: true, killedBy };
    // The same is found again where the disk is full.
    new CommandRecords(paths.commands).settle(lost);
    return lost;
  }
}

/** Over its private socket, before what names them. A holder that does not know them must not run anything of it. */
async function giveSecrets(
  values: Record<string, string>,
  send: () => Promise<Verbs['secrets']['answer'] | undefined>,
  isThere: boolean,
): Promise<void> {
  const [first] = Object.keys(values);
  if (first === undefined) return;
  const answer = await send().catch((err: unknown) => {
    if (err instanceof HoldfastError && err.code === 'invalid_input') return { taken: false };
    throw err;
  });
  // Holders before 0.2 answer a verb that they do not know with nothing.
  if (answer?.taken ?? !isThere) return;
  throw new HoldfastError('secret_unusable', {
    got: first,
    reason: 'the terminal of this session was opened by a release that knows no secrets',
    next: 'Use another session, or close this one.',
  });
}

const logSize = (paths: SessionPaths): number => (existsSync(paths.log) ? statSync(paths.log).size : 0);
