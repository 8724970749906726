// A sandboxed session against a plain one: its start, and each command in it. Without Temporal or a spare.
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_YIELD } from '../../contracts/sessions/session';
import { detectTreeKill } from '../../exec/processes/process-tree';
import { NO_SANDBOX, tryBubblewrap } from '../../exec/sandbox/open-sandbox';
import type { SandboxProfile } from '../../exec/sandbox/profile';
import { sessionEnvironment } from '../../exec/host/session-environment';
import { SessionHost } from '../../exec/host/session-host';
import { explaining, inTurn, timed, type Row } from '../measure';
import { uniqueId, type Bench } from '../setting';

const STARTS = 20;
const COMMANDS = 200;

export async function sandbox({ dataDir: below }: Bench): Promise<Row[]> {
  const dataDir = join(below, 'sandbox');
  const workspace = join(dataDir, 'work');
  mkdirSync(workspace, { recursive: true });
  const { profile, reason } = tryBubblewrap(NO_SANDBOX, { workspace, home: homedir(), dataDir });
  if (!profile) {
    process.stderr.write(`sandbox: left out, ${reason}\n`);
    return [];
  }
  const [confined, plain] = [hostOf(dataDir, workspace, profile), hostOf(dataDir, workspace)];
  const started = await inTurn(STARTS, start(confined), start(plain));
  const rows = [explaining('first command of a sandboxed session / a plain one', started)];
  for (const [what, code] of [
    ['true', 'true'],
    ['/bin/true', '/bin/true'],
  ] as const) {
    const ran = await inTurn(COMMANDS, runs(confined, 'confined', code), runs(plain, 'plain', code));
    rows.push(explaining(`- command \`${what}\` in an open one`, ran));
  }
  for (const host of [confined, plain]) {
    await host.closeAll('measured');
    host.detach();
  }
  return rows;
}

function hostOf(dataDir: string, cwd: string, profile?: SandboxProfile): SessionHost {
  const env = sessionEnvironment(process.env);
  return new SessionHost({ dataDir, cwd, env, treeKill: detectTreeKill(), sandbox: profile });
}

const start = (host: SessionHost) => async (): Promise<number> => {
  const agent = uniqueId('start');
  const took = await runs(host, agent, 'true')();
  await host.close({ agent, host: 'local', session: 0 }, null);
  return took;
};

const runs = (host: SessionHost, agent: string, code: string) => (): Promise<number> =>
  timed(async () => {
    const ref = { agent, host: 'local', session: 0 };
    await host.run(ref, { id: uniqueId('c'), runtime: 'terminal', code });
    await host.observe(ref, { kind: 'yield', settings: DEFAULT_YIELD });
  });
