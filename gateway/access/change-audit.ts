// Who changed what through the gateway, as one JSON line each. Never what a request carries.
import { join } from 'node:path';
import { AuditFile, type AuditLimits } from '../../system/log/audit-file';
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
  private readonly file: AuditFile;

  constructor(dataDir: string, failed: (reason: string) => void, limits?: AuditLimits) {
    const folder = join(dataDir, 'gateway');
    makeFolder(folder);
    this.file = new AuditFile({ folder, name: 'audit.jsonl', full: 'audit-' }, failed, limits);
  }

  /** Never throws. */
  write(entry: ChangeEntry): void {
    this.file.write(entry);
  }
}
