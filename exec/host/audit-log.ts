// What a host has refused or allowed, as one JSON line each, for later audits. Never the code itself.
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

export interface AuditEntry {
  /** The request, for example `runCommand`. */
  what: string;
  outcome: 'refused' | 'approved' | 'held';
  /** An error code, or the findings of the rules. */
  why: string;
  agent: string;
  host: string;
  session: number | null;
  /** The address of a request that did not come through Temporal. */
  from?: string;
  /** Of files that were copied. */
  path?: string;
  /** SHA-256 of the code, in hexadecimal. */
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

  /** A full disk must not turn a refusal into a different error. */
  write(entry: AuditEntry): void {
    try {
      appendFileSync(this.file, `${JSON.stringify({ at: new Date().toISOString(), ...entry })}\n`, {
        mode: 0o600,
      });
    } catch (err) {
      this.failed('the audit log cannot be written', { ...entry, error: String(err) });
    }
  }
}
