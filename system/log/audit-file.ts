// An audit log: one JSON line for each entry. A full file is renamed once, and the oldest goes when there are too many.
import { appendFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from '../lock';
import { logSize } from './log-tail';

export interface AuditLimits {
  /** A file may be larger by the lines that others are writing while it is renamed. */
  fileBytes: number;
  /** With the one that is written. */
  files: number;
}

export interface AuditNames {
  folder: string;
  /** The file that is written; with `.jsonl`. */
  name: string;
  /** What a number, counted in the order in which they were full, and `.jsonl` follow in the name of a full one. */
  full: string;
}

const LIMITS: AuditLimits = { fileBytes: 10_000_000, files: 5 };

export class AuditFile {
  private readonly file: string;
  private hasFailed = false;
  private isCut = false;

  constructor(
    private readonly names: AuditNames,
    private readonly failed: (reason: string) => void,
    private readonly limits: AuditLimits = LIMITS,
  ) {
    this.file = join(names.folder, names.name);
  }

  /** A full disk is reported once; it must not turn an answer into an error. */
  write(entry: object): void {
    try {
      this.append(`${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`);
      if (logSize(this.file) >= this.limits.fileBytes) this.rotate();
      this.hasFailed = false;
    } catch (err) {
      if (!this.hasFailed) this.failed(`the audit log cannot be written: ${String(err)}`);
      this.hasFailed = true;
    }
  }

  private append(line: string): void {
    // What a full disk has cut off must not swallow the next line.
    const start = this.isCut ? '\n' : '';
    this.isCut = true;
    appendFileSync(this.file, start + line, { mode: 0o600 });
    this.isCut = false;
  }

  /** Several processes may write here: one of them renames the file, and all go on with the next one. */
  private rotate(): void {
    const release = tryLock(`${this.file}.lock`);
    if (!release) return;
    try {
      if (logSize(this.file) < this.limits.fileBytes) return;
      const full = readdirSync(this.names.folder)
        .map((name) => this.numberOf(name))
        .filter((number) => number > 0)
        .sort((a, b) => a - b);
      const next = (full.at(-1) ?? 0) + 1;
      renameSync(this.file, this.fullFile(next));
      const all = [...full, next];
      // One place is for the file that is written.
      const tooMany = all.slice(0, Math.max(0, all.length + 1 - this.limits.files));
      for (const number of tooMany) rmSync(this.fullFile(number), { force: true });
    } finally {
      release();
    }
  }

  /** 0 for the name of another file. */
  private numberOf(name: string): number {
    const { full } = this.names;
    if (!name.startsWith(full)) return 0;
    return Number(/^(\d{1,15})\.jsonl$/.exec(name.slice(full.length))?.[1] ?? 0);
  }

  private fullFile(number: number): string {
    const { folder, full } = this.names;
    return join(folder, `${full}${number}.jsonl`);
  }
}
