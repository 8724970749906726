// The host's connections to its holders: one per session, found by the holder's record, reconnected when they break.
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionRef } from '../../contracts/ids';
import { HolderGone, type HolderRecord } from './holder-client';
import { HolderPulse, unreachedSince } from './holder-pulse';
import { nudgeHolder } from './nudge-holder';
import { isAlive, type Identity } from '../../system/processes/process-identity';
import { readProcessRecord } from '../../system/processes/process-record';
import { PROTOCOL_VERSION, type Verb, type Verbs } from '../protocol';
import { sessionPaths } from '../session-paths';
import { asStorageFailure } from '../../system/storage-failure';

const ATTEMPTS = 3;
const GONE_MS = 1_000;
/** A holder that is nudged recreates its record or socket within milliseconds; on a busy machine it takes longer. */
const CONNECT_MS = 3_000;
const AGAIN_MS = 50;

export class HolderConnections {
  private readonly connections = new Map<string, Promise<HolderPulse>>();

  constructor(private readonly dataDir: string) {}

  /** The record of the living holder that owns the session. */
  holderOf(ref: SessionRef): HolderRecord | undefined {
    const record = readProcessRecord<HolderRecord>(sessionPaths(this.dataDir, ref).holder);
    return record && isAlive(record.identity) ? record : undefined;
  }

  /** The process of the living holder that owns the session, also while its record is missing. */
  processOf(ref: SessionRef): Identity | undefined {
    const paths = sessionPaths(this.dataDir, ref);
    const record = readProcessRecord<HolderRecord>(paths.holder);
    const identity = record?.identity ?? readProcessRecord<Identity>(paths.process);
    return identity && isAlive(identity) ? identity : undefined;
  }

  /**
   * Undefined if no holder is alive; one that dies before it answers counts as dead. Throws `session_unreachable` if
   * the holder is alive but does not answer.
   */
  async ask<V extends Verb>(
    ref: SessionRef,
    verb: V,
    body: Verbs[V]['request'],
    signal?: AbortSignal,
  ): Promise<Verbs[V]['answer'] | undefined> {
    const since = Date.now();
    for (let attempt = 1; ; attempt++) {
      const holder = await this.find(ref);
      try {
        return await holder?.request(verb, body, signal);
      } catch (err) {
        if (!(err instanceof HolderGone)) throw err;
        await this.untilGone(ref);
        if (attempt < ATTEMPTS) continue;
        const identity = this.processOf(ref);
        if (!identity) return undefined;
        throw unreachedSince(ref.session, identity, { why: 'it closes every connection at once', since });
      }
    }
  }

  /** Throws like `ask`. */
  async find(ref: SessionRef): Promise<HolderPulse | undefined> {
    const key = this.key(ref);
    const known = this.connections.get(key);
    if (known) {
      const holder = await known.catch(() => undefined);
      if (holder?.isOpen) return holder;
      if (this.connections.get(key) === known) this.connections.delete(key);
      return this.find(ref);
    }
    const record = this.holderOf(ref);
    if (!record) return (await this.isMadeAgain(ref)) ? this.find(ref) : undefined;
    const connecting = this.connect(ref, record);
    this.connections.set(key, connecting);
    try {
      return await connecting;
    } catch (err) {
      if (this.connections.get(key) === connecting) this.connections.delete(key);
      if (err instanceof HolderGone) return undefined;
      throw err;
    }
  }

  /** Includes a connection that is still being opened. */
  made(ref: SessionRef): Promise<HolderPulse> | undefined {
    return this.connections.get(this.key(ref));
  }

  keep(ref: SessionRef, connecting: Promise<HolderPulse>): void {
    this.connections.set(this.key(ref), connecting);
  }

  forget(ref: SessionRef): void {
    close(this.made(ref));
    this.connections.delete(this.key(ref));
  }

  /** Closes all connections; the sessions continue. */
  closeAll(): void {
    for (const connecting of this.connections.values()) close(connecting);
    this.connections.clear();
  }

  /** A removed record says nothing about its holder, which writes it again. Throws if a living one does not. */
  private async isMadeAgain(ref: SessionRef): Promise<boolean> {
    const since = Date.now();
    const until = performance.now() + CONNECT_MS;
    for (let identity = this.processOf(ref); identity; identity = this.processOf(ref)) {
      if (this.holderOf(ref)) return true;
      if (performance.now() > until) {
        const why = `its record ${sessionPaths(this.dataDir, ref).holder} is gone, and it does not write it again`;
        throw unreachedSince(ref.session, identity, { why, since });
      }
      nudgeHolder(identity);
      await delay(AGAIN_MS);
    }
    return false;
  }

  /** The socket of a killed holder closes a moment before its process is gone. */
  private async untilGone(ref: SessionRef): Promise<void> {
    const until = performance.now() + GONE_MS;
    while (this.holderOf(ref) && performance.now() < until) await delay(5);
  }

  /** Only a dead process means a dead holder: a living one owns the terminal, whatever the state of its socket. */
  private async connect(ref: SessionRef, record: HolderRecord): Promise<HolderPulse> {
    const since = Date.now();
    const until = performance.now() + CONNECT_MS;
    if (record.version > PROTOCOL_VERSION) {
      const { version, folder } = record.release;
      const why = `it is of release ${version} in ${folder}, and speaks protocol ${record.version}; this release speaks ${PROTOCOL_VERSION}`;
      throw unreachedSince(ref.session, record.identity, { why, since });
    }
    for (;;) {
      try {
        return await HolderPulse.connect(record, ref.session);
      } catch (err) {
        const failure = asStorageFailure((err as Error).cause ?? err);
        if (!(err instanceof HolderGone) || failure !== (err.cause ?? err)) throw failure;
        if (!isAlive(record.identity)) throw err;
        if (performance.now() > until) {
          const { socketPath } = record;
          const why = existsSync(socketPath)
            ? `it accepts no connection at ${socketPath}`
            : `its socket ${socketPath} is gone`;
          throw unreachedSince(ref.session, record.identity, { why, since });
        }
        nudgeHolder(record.identity);
        await delay(AGAIN_MS);
      }
    }
  }

  private key(ref: SessionRef): string {
    return sessionPaths(this.dataDir, ref).directory;
  }
}

function close(connecting: Promise<HolderPulse> | undefined): void {
  void connecting?.then(
    (holder) => holder.close(),
    () => undefined,
  );
}
