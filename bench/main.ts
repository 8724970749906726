// `npm run bench`: Holdfast against bare Temporal and bare node-pty, in one run on one server. `--only NAME` runs
// one group, `--json` prints for programs.
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { checkpoints } from './groups/checkpoints';
import { checks } from './groups/checks';
import { cluster } from './groups/cluster';
import { firstCommand } from './groups/first-command';
import { flood } from './groups/flood';
import { gateway } from './groups/gateway';
import { history } from './groups/history';
import { idleSessions } from './groups/idle-sessions';
import { input } from './groups/input';
import { manyAgents } from './groups/many-agents';
import { asLine, printTable, type Row } from './measure';
import { idleAgents } from './groups/idle-agents';
import { sandbox } from './groups/sandbox';
import { withBench, type Group } from './setting';
import { recovery } from './groups/recovery';
import { remoteHost } from './groups/remote-host';
import { steps } from './groups/steps';
import { subAgents } from './groups/sub-agents';
import { tenants } from './groups/tenants';
import { traces } from './groups/traces';
import { toolCalls } from './groups/tool-calls';
import { workerKilled } from './groups/worker-killed';

const GROUPS: Record<string, Group> = {
  steps,
  'first-command': firstCommand,
  input,
  'tool-calls': toolCalls,
  flood,
  'worker-killed': workerKilled,
  recovery,
  'idle-sessions': idleSessions,
  'idle-agents': idleAgents,
  'many-agents': manyAgents,
  'sub-agents': subAgents,
  tenants,
  sandbox,
  history,
  'remote-host': remoteHost,
  gateway,
  traces,
  checks,
  checkpoints,
  cluster,
};

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { only: { type: 'string' }, json: { type: 'boolean' } } });
  const { only, json } = values;
  if (only !== undefined && !(only in GROUPS)) {
    process.stderr.write(`--only takes one of: ${Object.keys(GROUPS).join(', ')}. Given: ${only}\n`);
    process.exitCode = 2;
    return;
  }
  const progress = (line: string): void => void process.stderr.write(`${line}\n`);
  const rows: Row[] = [];
  await withBench(progress, async (bench) => {
    for (const [name, group] of Object.entries(GROUPS)) {
      if (only !== undefined && only !== name) continue;
      const began = Date.now();
      const measured = await group(bench);
      rows.push(...measured);
      progress(`${name}, ${Math.round((Date.now() - began) / 1e3)} s`);
      for (const row of measured) progress(asLine(row));
    }
  });
  const machine = `${cpus().length} cores, ${(totalmem() / 1024 ** 3).toFixed(0)} GiB, Node ${process.versions.node}`;
  if (json) process.stdout.write(`${JSON.stringify({ machine, rows })}\n`);
  else printTable(rows, machine);
}

void main();
