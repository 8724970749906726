// A Temporal server on PostgreSQL for one test file; see scripts/cluster.sh. Nothing of it outlives jest.
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

const SCRIPTS = join(__dirname, '..', '..', '..', 'scripts');

/** Why this machine cannot have one; undefined if it can. */
export function noCluster(): string | undefined {
  const { status, stderr } = spawnSync(join(SCRIPTS, 'cluster.sh'), ['check'], { encoding: 'utf8' });
  return status === 0 ? undefined : stderr.trim().replace('cluster.sh: ', '');
}

export class Cluster {
  private running: ChildProcess | undefined;
  private at = '';

  get address(): string {
    if (!this.at) throw new Error('not started');
    return this.at;
  }

  get port(): number {
    return Number(this.address.split(':')[1]);
  }

  /** Takes minutes where the server has not been built yet. */
  async start(servers = 1): Promise<void> {
    // Not the temporary folder: the user of the database must be able to reach it.
    const env = { ...process.env, HOLDFAST_CLUSTER: mkdtempSync('/var/tmp/holdfast-cluster-test-') };
    // It ends with its standard input, so whenever jest does.
    this.running = spawn(join(SCRIPTS, 'cluster.sh'), ['run', '--servers', String(servers)], {
      ...{ detached: true, env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let said = '';
    this.running.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    for await (const line of createInterface({ input: this.running.stdout as Readable })) {
      this.at = /^TEMPORAL_ADDRESS=(.*)/.exec(line)?.[1] ?? '';
      if (this.at) return;
    }
    throw new Error(said);
  }

  /** With the search attributes of Holdfast. */
  async makeNamespace(namespace: string): Promise<void> {
    const script = join(SCRIPTS, 'await-namespace.js');
    await promisify(execFile)(process.execPath, [script, this.address, namespace]);
  }

  async stop(): Promise<void> {
    if (!this.running) return;
    const closed = once(this.running, 'close');
    this.running.stdin?.end();
    await closed;
  }
}
