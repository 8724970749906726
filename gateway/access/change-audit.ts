// Who changed what through the gateway, as one JSON line each. Never what a request carries.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
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

export class ChangeAudit {
  private readonly file: string;
  private hasFailed = false;

  constructor(
    dataDir: string,
    private readonly failed: (reason: string) => void,
  ) {
    makeFolder(join(dataDir, 'gateway'));
    this.file = join(dataDir, 'gateway', 'audit.jsonl');
  }

  /** A full disk is told once; it must not turn an answer into an error. */
  write(entry: ChangeEntry): void {
    try {
      appendFileSync(this.file, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`, {
        mode: 0o600,
      });
      this.hasFailed = false;
    } catch (err) {
      if (!this.hasFailed) this.failed(`the audit log cannot be written: ${String(err)}`);
      this.hasFailed = true;
    }
  }
}
