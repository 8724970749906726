// Builds of a task queue that follow each other: which one gets the tasks, and where its operator pins runs.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { turnWorkflowId } from '../../../contracts/ids';
import { ensureServer } from '../../../engine/server';
import { defaultCacheDir } from '../../../system/data-dir';
import { polledQueue } from '../../../workers/agents/agents-pollers';
import { stopWorker } from '../../../workers/process/worker-process';
import { endDataFolder } from '../../helpers/engines/end-data-folder';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { longTest } from '../../helpers/run/long-run';
import { NextBuild } from '../../helpers/releases/next-build';
import { scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();
const second = mkdtempSync(join(tmpdir(), 'holdfast-second-'));
let next: NextBuild;

beforeAll(async () => {
  next = new NextBuild();
  for (const dataDir of [engine.dataDir, second]) {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'holdfast.toml'), '[deployment]\nversioning = "pinned"\n');
  }
  await engine.start();
}, 60_000);
afterAll(async () => {
  await endDataFolder(second);
  const left = await engine.end();
  files.remove();
  next.remove();
  rmSync(second, { recursive: true, force: true });
  expect(left).toEqual([]);
}, 60_000);

/** The worker of another machine, which serves agents only; null: of this build. */
async function upSecond(bin: string | null): Promise<void> {
  const args = ['up', '--agents-only', '--address', engine.server().address];
  const { code, stderr } = await engine.cli(args, { env: { HOLDFAST_DATA: second }, ...(bin && { bin }) });
  if (code !== 0) throw new Error(stderr);
}

const current = async (): Promise<string | null> =>
  (await polledQueue(engine.client.temporal, 'holdfast')).currentBuild;

/** The build that a run is with, and whether it was moved there. */
async function buildOf(workflowId: string): Promise<{ build: string | undefined; isMoved: boolean }> {
  const { raw } = await engine.client.temporal.workflow.getHandle(workflowId).describe();
  const { deploymentVersion, versioningOverride } = raw.workflowExecutionInfo?.versioningInfo ?? {};
  return {
    build: deploymentVersion?.buildId ?? undefined,
    isMoved: versioningOverride?.autoUpgrade === true,
  };
}

longTest(
  'a pinned turn stays with its build while that has a worker, and goes on with the current one after that',
  async () => {
    const own = await current();
    const agent = engine.client.agent('pinned');
    await agent.start({
      mode: 'conversation',
      ...files.settings([{ text: 'one', delayMs: 8_000 }, { text: 'two' }]),
    });
    const answer = agent.send('first');
    const turn = turnWorkflowId('pinned', 1);
    await until(async () => (await buildOf(turn).catch(() => undefined))?.build === own);
    await upSecond(next.bin);
    expect(await current()).not.toBe(own);
    expect(await buildOf(turn)).toEqual({ build: own, isMoved: false });
    // The only worker of the first build, and of its host.
    const { code, stderr } = await engine.cli(['up'], { bin: next.bin });
    expect([code, stderr]).toEqual([0, expect.stringContaining('replaced the worker')]);
    expect(await answer).toMatchObject({ answer: 'one' });
    expect(await agent.send('second')).toMatchObject({ answer: 'two' });
    await agent.stop();
  },
  60_000,
);

longTest(
  'an earlier build that starts again leaves the queue to the later one, and takes it when that is gone',
  async () => {
    const later = await current();
    await upSecond(null);
    expect(await current()).toBe(later);
    await stopWorker(engine.dataDir);
    await until(async () => (await current()) !== later, 120_000);
    await engine.startWorker();
    const session = engine.client.session({ agent: 'back', session: 0 });
    expect(await session.exec({ code: 'echo here' })).toMatchObject({ output: 'here\n' });
    await session.close('the test');
  },
  180_000,
);

test('on a server without deployments workers serve as before', async () => {
  const without = new EngineOfItsOwn({ ownServer: true });
  try {
    const port = 11_000 + 2 * Math.floor(Math.random() * 400);
    await ensureServer({
      dataDir: without.dataDir,
      cacheDir: defaultCacheDir(process.env),
      env: process.env,
      progress: () => undefined,
      settings: { 'system.enableDeploymentVersions': false },
      ...{ port, uiPort: port + 1 },
    });
    without.configure('[deployment]\nversioning = "auto-upgrade"\n');
    await without.start();
    const session = without.client.session({ agent: 'plain', session: 0 });
    expect(await session.exec({ code: 'echo served' })).toMatchObject({ output: 'served\n' });
    expect((await polledQueue(without.client.temporal, 'holdfast')).currentBuild).toBe(null);
    await session.close('the test');
  } finally {
    expect(await without.end()).toEqual([]);
  }
}, 60_000);
