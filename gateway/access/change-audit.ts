// Who changed what through the gateway, as one JSON line each. Never what a request carries. A full file is renamed once,
// and the oldest goes when there are too many.
import { appendFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from '../../system/lock';
import { logSize } from '../../system/log/log-tail';
import { makeFolder } from '../../system/make-folder';

export interface ChangeEntry {
  /** The token's id and name; null if nobody was let in. */
  who: string | null;
  name: string | null;
  from: string;
  /** For example `POST /v1/agents/{agent}/stop`. */
  what: string;
  /** The path as it was asked for. */
  path: string;
  status: number;
  /** The error's code, if it was refused. */
  code?: string;
}

export interface AuditLimits {
  /** A file may be larger by the lines that others are writing while it is renamed. */
  fileBytes: number;
  /** With the one that is written. */
  files: number;
}

const LIMITS: AuditLimits = { fileBytes: 10_000_000, files: 5 };
const NAME = 'audit.jsonl';
/** Numbered in the order in which they were full. */
const FULL_NAME = /^audit-(\d{1,15})\.jsonl$/;

export class ChangeAudit {
  private readonly folder: string;
  private readonly file: string;
  private hasFailed = false;
  private isCut = false;

  constructor(
    dataDir: string,
    private readonly failed: (reason: string) => void,
    private readonly limits: AuditLimits = LIMITS,
  ) {
    this.folder = join(dataDir, 'gateway');
    this.file = join(this.folder, NAME);
    makeFolder(this.folder);
  }

  /** A full disk is told once; it must not turn an answer into an error. */
  write(entry: ChangeEntry): void {
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

  /** Several gateways may write here: one of them renames the file, and all go on with the next one. */
  private rotate(): void {
    const release = tryLock(`${this.file}.lock`);
    if (!release) return;
    try {
      if (logSize(this.file) < this.limits.fileBytes) return;
      const full = readdirSync(this.folder)
        .map((name) => Number(FULL_NAME.exec(name)?.[1] ?? 0))
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

  private fullFile(number: number): string {
    return join(this.folder, `audit-${number}.jsonl`);
  }
}
