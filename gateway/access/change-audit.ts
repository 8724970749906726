// Who changed what through the gateway, as one JSON line each. Never what a request carries.
import { join } from 'node:path';
import { AuditFile, type AuditLimits } from '../../system/log/audit-file';
import { makeFolder } from '../../system/make-folder';
import { RefusalCount } from './refusal-count';
import { shortened } from '../../contracts/text/well-formed';

export interface ChangeEntry {
  /** The token's id and name; null if access was refused. */
  who: string | null;
  name: string | null;
  from: string;
  /** For example `POST /v1/agents/{agent}/stop`. */
  what: string;
  /** The path as it was asked for; of a long one, the beginning. */
  path: string;
  status: number;
  /** The error's code, if it was refused. */
  code?: string;
}

const MAX_PATH_CHARS = 300;

export class ChangeAudit {
  private readonly file: AuditFile;
  private readonly refusals = new RefusalCount();

  constructor(dataDir: string, failed: (reason: string) => void, limits?: AuditLimits) {
    const folder = join(dataDir, 'gateway');
    makeFolder(folder);
    this.file = new AuditFile({ folder, name: 'audit.jsonl', full: 'audit-' }, failed, limits);
  }

  /** Never throws. */
  write(entry: ChangeEntry): void {
    const { hasLine, ...counted } = this.counted(entry);
    if (hasLine) this.file.write({ ...entry, path: shortPath(entry.path), ...counted });
  }

  /** Counts what somebody without the right to it can repeat for nothing. */
  private counted({ who, from, status, code }: ChangeEntry): ReturnType<RefusalCount['add']> {
    const isRefusal = code !== undefined && (who === null || status === 403);
    return isRefusal ? this.refusals.add(who ?? from) : { hasLine: true };
  }
}

const shortPath = (path: string): string => shortened(path, MAX_PATH_CHARS);
