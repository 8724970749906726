// A command on a host with its own process and data folder, against one on the local host.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledEntry } from '../../system/package-root';
import { atMost, explaining, inTurn, timed, type Row } from '../measure';
import { uniqueId, type Bench } from '../setting';

const ROUNDS = 30;
const NAME = 'bench-remote';

export async function remoteHost(bench: Bench): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-bench-remote-'));
  const env = { ...process.env, HOLDFAST_DATA: dataDir };
  const cli = (...args: string[]): ReturnType<typeof spawn> =>
    spawn(process.execPath, [compiledEntry('cli/main.js'), ...args], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const host = cli('host', 'serve', NAME, '--address', bench.client.address, '--root', dataDir, '--json');
  try {
    if (host.stdout) await once(host.stdout, 'data');
    return [
      atMost('a quick command on a remote host / on the local one', await commands(bench), 1.2),
      explaining('- which host code_execution_remote goes to, found out', await choosing(bench)),
    ];
  } finally {
    const ended = once(host, 'close');
    host.kill('SIGTERM');
    await ended;
    await once(cli('down', '--sessions'), 'close');
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function commands({ client }: Bench): Promise<{ ours: number; base: number }> {
  const agent = uniqueId('remote');
  const [there, here] = [NAME, 'local'].map((host) => client.session({ agent, host, session: 0 }));
  const exec = (session: typeof there) => (): Promise<number> =>
    timed(async () => session?.exec({ code: 'true' }));
  await inTurn(3, exec(there), exec(here));
  const result = await inTurn(ROUNDS, exec(there), exec(here));
  await Promise.all([there?.close('measured'), here?.close('measured')]);
  return result;
}

/** Against a workflow query, which is what it consists of. */
async function choosing({ client }: Bench): Promise<{ ours: number; base: number }> {
  const choose = (): Promise<number> => timed(() => client.hosts.choose(undefined));
  const query = (): Promise<number> =>
    timed(() => client.temporal.workflow.getHandle(`host/${NAME}`).query('state'));
  return inTurn(ROUNDS, choose, query);
}
