// The durable record of each command of a session: written before the command is handed to the shell and again at its
// end. It is why a command id can never run twice, even after its holder dies.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { KilledBy, Runtime } from '../contracts/sessions/session';
import { flushFolder, readJson, writeJson } from '../system/json-file';
import { makeFolder } from '../system/make-folder';
import type { CommandRecord } from './protocol';
import type { SessionPaths } from './session-paths';
import { storageReason } from '../system/storage-failure';

/** The content that a command id is bound to. */
export const contentHash = (runtime: Runtime, code: string): string =>
  createHash('sha256').update(`${runtime}\n${code}`).digest('hex');

/** Throws `id_conflict` if the command's id belongs to other content. */
export function checkContent({ id, contentHash: before }: CommandRecord, hash: string): void {
  if (before !== UNKNOWN_CONTENT && before !== hash) throw new HoldfastError('id_conflict', { got: id });
}

/** The content of a damaged record. */
const UNKNOWN_CONTENT = '';

const RETRY_MS = 250;
const HOST_LOST: KilledBy = { by: 'host_lost', reason: 'the process that held the terminal died' };
const DAMAGED: KilledBy = { by: 'host_lost', reason: 'the power failed: its record is damaged' };

export class CommandRecords {
  /** Ends that are not on disk yet; newer than the records there. */
  private readonly unwritten = new Map<string, CommandRecord>();
  /** Why the last attempt to write them failed. */
  private why: string | null = null;
  private retry: NodeJS.Timeout | undefined;
  private isPlaceFlushed = false;

  constructor(private readonly directory: string) {}

  read(id: string): CommandRecord | undefined {
    return this.unwritten.get(id) ?? readJson<CommandRecord>(this.path(id)) ?? this.damaged(id);
  }

  /** Why a record could not be written; null if all are written. */
  get fault(): string | null {
    return this.unwritten.size > 0 ? this.why : null;
  }

  /**
   * A file that is no record: what is left of one that had its name, but not its content on the disk when the power
   * failed. Its command may have run.
   */
  private damaged(id: string): CommandRecord | undefined {
    const path = this.path(id);
    if (!existsSync(path)) return undefined;
    const at = Math.trunc(statSync(path).mtimeMs);
    const unknown = {
      contentHash: UNKNOWN_CONTENT,
      runtime: 'terminal',
      epoch: 0,
      freshShell: false,
    } as const;
    const begun = { ...begunCommand({ id, from: 0, ...unknown }), startedAt: at };
    // It may have got its name just now.
    return readJson<CommandRecord>(path) ?? { ...begun, to: 0, endedAt: at, lost: true, killedBy: DAMAGED };
  }

  /**
   * Records a command that is about to begin; not even a power failure takes that back. Throws `storage_failed`. No
   * command is recorded before the ends of all earlier ones are.
   */
  write(record: CommandRecord): void {
    this.writeEarlier();
    this.writeOne(record);
    flushFolder(this.directory);
    if (this.isPlaceFlushed) return;
    // The session's folder may be as new as the first command.
    const session = dirname(this.directory);
    for (const folder of [session, dirname(session)]) flushFolder(folder);
    this.isPlaceFlushed = true;
  }

  /** Records what has already happened: if the disk refuses, the record is kept in memory and written later. */
  settle(record: CommandRecord): void {
    this.unwritten.set(record.id, record);
    this.writeUnwritten();
  }

  /** Records that it will never be known how a command ended, unless its end is known. `to`: where its output ends. */
  settleLost(record: CommandRecord, to: number, killedBy = HOST_LOST): CommandRecord {
    if (record.endedAt !== null) return record;
    const lost = { ...record, to, endedAt: Date.now(), lost: true, killedBy };
    this.settle(lost);
    return lost;
  }

  /** Forgets a command that was never handed over. If the disk refuses even that, it counts as lost. */
  remove(record: CommandRecord): void {
    try {
      rmSync(this.path(record.id), { force: true });
    } catch {
      this.settleLost(record, record.from);
    }
  }

  /** The command that began last. Reads every record: for start-up only. */
  latest(): CommandRecord | undefined {
    if (!existsSync(this.directory)) return undefined;
    return readdirSync(this.directory)
      .filter((name) => name.endsWith('.json'))
      .map((name) => readJson<CommandRecord>(join(this.directory, name)))
      .filter((record) => record !== undefined)
      .sort(inOrder)
      .at(-1);
  }

  private writeUnwritten(): void {
    try {
      this.writeEarlier();
    } catch (err) {
      this.why = storageReason(err);
      clearTimeout(this.retry);
      this.retry = setTimeout(() => this.writeUnwritten(), RETRY_MS).unref();
    }
  }

  private writeEarlier(): void {
    for (const record of this.unwritten.values()) this.writeOne(record);
  }

  private writeOne(record: CommandRecord): void {
    if (!existsSync(this.directory)) this.makeFolder();
    writeJson(this.path(record.id), record);
    this.unwritten.delete(record.id);
  }

  /** Not with its parents: a session that somebody has deleted must not come back. */
  private makeFolder(): void {
    const session = dirname(this.directory);
    if (!existsSync(session))
      throw new HoldfastError('storage_failed', { reason: `the folder ${session} was deleted` });
    makeFolder(this.directory);
  }

  /** Callers choose the ids, so only their hash becomes a file name. */
  private path(id: string): string {
    return join(this.directory, `${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`);
  }
}

/** Epochs and offsets only grow; clocks are set back. Of commands without output, the one that has not ended is last. */
const inOrder = (a: CommandRecord, b: CommandRecord): number =>
  a.epoch - b.epoch ||
  a.from - b.from ||
  Number(a.endedAt === null) - Number(b.endedAt === null) ||
  a.startedAt - b.startedAt;

/** The log was written at least up to here when this was recorded. */
export const writtenTo = ({ from, to }: CommandRecord): number => Math.max(from, to ?? 0);

/**
 * The epoch after the session's last one, also if the file that names it was removed, or emptied by a power failure: a
 * call id must never be given twice. Throws like `readJson`.
 */
export const nextEpoch = ({ epoch }: SessionPaths, latest: CommandRecord | undefined): number =>
  Math.max(Number(readJson(epoch)) || 0, latest?.epoch ?? 0) + 1;

/** The record of a command that is starting. */
export const begunCommand = (
  known: Pick<CommandRecord, 'id' | 'contentHash' | 'runtime' | 'epoch' | 'freshShell' | 'from'>,
): CommandRecord => ({
  ...known,
  startedAt: Date.now(),
  to: null,
  exitCode: null,
  signal: null,
  killedBy: null,
  endedAt: null,
  lost: false,
});
