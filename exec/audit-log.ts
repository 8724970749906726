// What a host has refused or was allowed to do, one JSON line each, for whoever asks later. Never the code itself.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

export interface AuditEntry {
  /** What was asked, for example `runCommand`. */
  what: string;
  outcome: 'refused' | 'approved' | 'held';
  /** A code of the error catalogue, or the rules that were found. */
  why: string;
  agent: string;
  host: string;
  session: number | null;
  /** The address that it came from, where it did not come through Temporal. */
  from?: string;
  /** Of the code, in hexadecimal SHA-256. */
  hash?: string | undefined;
}

export class AuditLog {
  private readonly file: string;

  constructor(
    dataDir: string,
    host: string,
    private readonly failed: (message: string, facts: object) => void,
  ) {
    this.file = join(dataDir, `audit.${host}.jsonl`);
  }

  /** A disk that takes nothing must not keep a refusal from being one. */
  write(entry: AuditEntry): void {
    try {
      appendFileSync(this.file, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`, {
        mode: 0o600,
      });
    } catch (err) {
      this.failed('the audit log takes nothing', { ...entry, error: String(err) });
    }
  }
}
