// What a host has refused or allowed, as one JSON line each, for later audits. Never the code itself.
import { AuditFile, type AuditLimits } from '../../system/log/audit-file';

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
  /** The path of files that were copied. */
  path?: string;
  /** SHA-256 of the code, in hexadecimal. */
  hash?: string | undefined;
}

export class AuditLog {
  private readonly file: AuditFile;

  constructor(
    dataDir: string,
    host: string,
    failed: (message: string, facts: object) => void,
    limits?: AuditLimits,
  ) {
    // Names of hosts have no dot: the full files of one are never those of another.
    const names = { folder: dataDir, name: `audit.${host}.jsonl`, full: `audit.${host}.` };
    this.file = new AuditFile(names, (reason) => failed(reason, { host }), limits);
  }

  /** Never throws: a full disk must not turn a refusal into a different error. */
  write(entry: AuditEntry): void {
    this.file.write(entry);
  }
}
