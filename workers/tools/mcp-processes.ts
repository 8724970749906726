// Records the process groups of a worker's MCP servers in the data folder: a killed worker cannot end them, and not
// every server exits when its input closes.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { endGroup } from '../../system/processes/process-end';
import { identityOf, isAlive, type Identity } from '../../system/processes/process-identity';
import { readProcessRecord, writeProcessRecord } from '../../system/processes/process-record';

interface StartedServers {
  worker: Identity;
  servers: Identity[];
}

const GRACE_MS = 2_000;

export class McpProcesses {
  private readonly folder: string;
  private readonly file: string;
  private readonly servers = new Map<number, Identity>();

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'mcp');
    this.file = join(this.folder, `${process.pid}-${randomBytes(4).toString('hex')}.json`);
  }

  /** Records a server's group; returns the function that removes the record. */
  readonly started = (pid: number): (() => void) => {
    try {
      this.servers.set(pid, identityOf(pid));
    } catch {
      // It has already exited.
    }
    this.write();
    return () => {
      this.servers.delete(pid);
      this.write();
    };
  };

  /** Ends the servers that dead workers of this data folder have left. */
  async endLeft(): Promise<void> {
    for (const name of listed(this.folder)) {
      const file = join(this.folder, name);
      const left = readProcessRecord<StartedServers>(file);
      if (left && isAlive(left.worker)) continue;
      await Promise.all((left?.servers ?? []).map((server) => endGroup(server, GRACE_MS)));
      rmSync(file, { force: true });
    }
  }

  private write(): void {
    try {
      if (this.servers.size === 0) return rmSync(this.file, { force: true });
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      const servers = [...this.servers.values()];
      writeProcessRecord(this.file, { worker: identityOf(process.pid), servers } satisfies StartedServers);
    } catch {
      // The disk is full. The record is only a safeguard, so the server starts anyway.
    }
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}
