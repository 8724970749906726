// The durable record of each command of a session: written before the command is handed to the shell and again at its
// end. It is why a command id can never run twice, even after its holder dies.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { Runtime } from '../contracts/sessions/session';
import { readJson, writeJson } from '../system/json-file';
import { makeFolder } from '../system/make-folder';
import type { CommandRecord } from './protocol';
import { storageReason } from '../system/storage-failure';

/** The content that a command id is bound to. */
export const contentHash = (runtime: Runtime, code: string): string =>
  createHash('sha256').update(`${runtime}\n${code}`).digest('hex');

/** Throws `id_conflict` if the command's id belongs to other code. */
export function checkContent(
  { id, contentHash: before }: CommandRecord,
  runtime: Runtime,
  code: string,
): void {
  if (before !== contentHash(runtime, code)) throw new HoldfastError('id_conflict', { got: id });
}

const RETRY_MS = 250;

export class CommandRecords {
  /** Ends that are not on disk yet; newer than the records there. */
  private readonly unwritten = new Map<string, CommandRecord>();
  private why: string | null = null;

  constructor(private readonly directory: string) {}

  read(id: string): CommandRecord | undefined {
    return this.unwritten.get(id) ?? readJson<CommandRecord>(this.path(id));
  }

  /** Why a record could not be written; null if all are written. */
  get fault(): string | null {
    return this.why;
  }

  /** Throws `storage_failed`. */
  write(record: CommandRecord): void {
    if (!existsSync(this.directory)) makeFolder(this.directory);
    writeJson(this.path(record.id), record);
  }

  /** Records what has already happened: if the disk refuses, the record is kept in memory and written later. */
  settle(record: CommandRecord): void {
    this.unwritten.set(record.id, record);
    this.writeUnwritten();
  }

  /** Forgets a command that was never handed over. */
  remove(id: string): void {
    rmSync(this.path(id), { force: true });
  }

  /** The command that began last. Reads every record: for start-up only. */
  latest(): CommandRecord | undefined {
    if (!existsSync(this.directory)) return undefined;
    return readdirSync(this.directory)
      .filter((name) => name.endsWith('.json'))
      .map((name) => readJson<CommandRecord>(join(this.directory, name)))
      .filter((record) => record !== undefined)
      .sort((a, b) => a.startedAt - b.startedAt || a.from - b.from)
      .at(-1);
  }

  private writeUnwritten(): void {
    try {
      for (const [id, record] of this.unwritten) {
        this.write(record);
        this.unwritten.delete(id);
      }
      this.why = null;
    } catch (err) {
      this.why = storageReason(err);
      setTimeout(() => this.writeUnwritten(), RETRY_MS).unref();
    }
  }

  /** Callers choose the ids, so only their hash becomes a file name. */
  private path(id: string): string {
    return join(this.directory, `${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`);
  }
}

/** The log was written at least up to here when this was recorded. */
export const writtenTo = ({ from, to }: CommandRecord): number => Math.max(from, to ?? 0);

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
