// The first command of a session against one in an open session, and how much of the difference comes from Temporal.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WithStartWorkflowOperation, type Workflow } from '@temporalio/client';
import { detectTreeKill } from '../../exec/processes/process-tree';
import { sessionEnvironment } from '../../exec/host/session-environment';
import { SessionHost } from '../../exec/host/session-host';
import { DEFAULT_YIELD } from '../../contracts/sessions/session';
import type { SessionRef } from '../../contracts/ids';
import { atMost, explaining, inTurn, timed, type Row } from '../measure';
import { uniqueId, until, type Bench } from '../setting';

const ROUNDS = 20;
/** A spare reports that its process exists; its shell reads its settings a moment longer. */
const SHELL_MS = 400;

export async function firstCommand(bench: Bench): Promise<Row[]> {
  return [
    atMost(
      'first command of a session that was opened ahead / warm',
      await throughTemporal(bench, true),
      1.3,
    ),
    explaining('first command of a session, opened by it / warm', await throughTemporal(bench, false)),
    explaining('- of which bare: new workflow / open one', await bareStart(bench)),
    explaining('- of which the host: new session / open one', await onHost(bench)),
  ];
}

async function throughTemporal(
  { client, dataDir }: Bench,
  isAhead: boolean,
): Promise<{ ours: number; base: number }> {
  const warm = client.session({ agent: uniqueId('warm'), session: 0 });
  const ours = async (): Promise<number> => {
    const session = client.session({ agent: uniqueId('first'), session: 0 });
    if (isAhead) await session.open();
    await untilSpare(dataDir);
    const took = await timed(() => session.exec({ code: 'true' }));
    await session.close('measured');
    await session.closed();
    return took;
  };
  const base = async (): Promise<number> => {
    await untilSpare(dataDir);
    return timed(() => warm.exec({ code: 'true' }));
  };
  await inTurn(2, ours, base);
  const result = await inTurn(ROUNDS, ours, base);
  await warm.close('measured');
  return result;
}

async function bareStart({ client }: Bench): Promise<{ ours: number; base: number }> {
  const { workflow } = client.temporal;
  const exec = async (workflowId: string): Promise<number> => {
    const startWorkflowOperation = new WithStartWorkflowOperation('bareSession', {
      workflowId,
      taskQueue: 'bare',
      workflowIdConflictPolicy: 'USE_EXISTING',
    });
    const options = { args: [{ code: 'true' }] as [object], startWorkflowOperation };
    await delay(SHELL_MS / 4);
    return timed(() => workflow.executeUpdateWithStart<Workflow, string, [object]>('exec', options));
  };
  const warm = uniqueId('bare-warm');
  const ours = async (): Promise<number> => {
    const id = uniqueId('bare-first');
    const took = await exec(id);
    await workflow.getHandle(id).signal('end');
    return took;
  };
  const base = (): Promise<number> => exec(warm);
  await inTurn(2, ours, base);
  const result = await inTurn(ROUNDS, ours, base);
  await workflow.getHandle(warm).signal('end');
  return result;
}

/** Without Temporal: the host's own time for a session's first command. */
async function onHost({ dataDir: below }: Bench): Promise<{ ours: number; base: number }> {
  const dataDir = join(below, 'host');
  mkdirSync(dataDir);
  const env = sessionEnvironment(process.env);
  const host = new SessionHost({ dataDir, cwd: dataDir, env, treeKill: detectTreeKill(), keepSpare: true });
  const run = async (ref: SessionRef): Promise<number> => {
    await untilSpare(dataDir);
    return timed(async () => {
      await host.run(ref, { id: uniqueId('c'), runtime: 'terminal', code: 'true' });
      await host.observe(ref, { kind: 'yield', settings: DEFAULT_YIELD });
    });
  };
  const ours = async (): Promise<number> => {
    const ref = { agent: uniqueId('host'), host: 'local', session: 0 };
    const took = await run(ref);
    await host.close(ref, null);
    return took;
  };
  const base = (): Promise<number> => run({ agent: 'warm', host: 'local', session: 0 });
  await inTurn(2, ours, base);
  const result = await inTurn(ROUNDS / 2, ours, base);
  await host.closeAll('measured');
  await host.endSpare();
  host.detach();
  return result;
}

/** In practice sessions are not opened back to back: the host has its next holder ready by then. */
async function untilSpare(dataDir: string): Promise<void> {
  const folder = join(dataDir, 'spares');
  await until(() => existsSync(folder) && readdirSync(folder).some((name) => isWaiting(folder, name)), 20);
  await delay(SHELL_MS);
}

/** A spare that has opened its shell has a folder; one already used has no configuration. */
const isWaiting = (folder: string, name: string): boolean =>
  !name.includes('.') && existsSync(join(folder, `${name}.json`));
