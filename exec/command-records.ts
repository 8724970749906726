// The durable record of each command of a session: written before the command is handed to the shell and
// again at its end. It is why a command id can never run twice, not even after its holder died.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../contracts/errors';
import type { Runtime } from '../contracts/session';
import { readJson, writeJson } from './json-file';
import { makeFolder } from './make-folder';
import type { CommandRecord } from './protocol';
import { storageReason } from './storage-failure';

/** What the id of a command stands for. */
export const contentHash = (runtime: Runtime, code: string): string =>
  createHash('sha256').update(`${runtime}\n${code}`).digest('hex');

/** Throws `id_conflict` where the id of the command stood for other code. */
export function checkContent(
  { id, contentHash: before }: CommandRecord,
  runtime: Runtime,
  code: string,
): void {
  if (before !== contentHash(runtime, code)) throw new HoldfastError('id_conflict', { got: id });
}

const RETRY_MS = 250;

export class CommandRecords {
  /** Ends that the disk has not taken yet, newer than what it holds. */
  private readonly unwritten = new Map<string, CommandRecord>();
  private why: string | null = null;

  constructor(private readonly directory: string) {}

  read(id: string): CommandRecord | undefined {
    return this.unwritten.get(id) ?? readJson<CommandRecord>(this.path(id));
  }

  /** Why the disk does not take a record; null when all are written. */
  get fault(): string | null {
    return this.why;
  }

  /** Throws `storage_failed`. */
  write(record: CommandRecord): void {
    if (!existsSync(this.directory)) makeFolder(this.directory);
    writeJson(this.path(record.id), record);
  }

  /** Writes what has happened already: where the disk does not take it, it is kept and tried again. */
  settle(record: CommandRecord): void {
    this.unwritten.set(record.id, record);
    this.writeUnwritten();
  }

  /** Forgets a command that was never handed over. */
  remove(id: string): void {
    rmSync(this.path(id), { force: true });
  }

  /** The command that began last; reads every record, so it is for start-up only. */
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

  /** Ids come from callers and may hold anything: only their hash becomes a file name. */
  private path(id: string): string {
    return join(this.directory, `${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`);
  }
}

/** Up to where the log was written at the least, when this was recorded. */
export const writtenTo = ({ from, to }: CommandRecord): number => Math.max(from, to ?? 0);

/** The record of a command that begins now. */
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
