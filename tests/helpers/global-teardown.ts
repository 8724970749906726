import { rmSync } from 'node:fs';
import { stopServer } from '../../engine/server';
import { detectTreeKill } from '../../exec/holder/process-tree';
import { SessionHost } from '../../exec/session-host';
import { stopWorker } from '../../workers/worker-process';

export default async function teardown(): Promise<void> {
  const dataDir = process.env.HOLDFAST_TEST_DATA;
  if (!dataDir) return;
  await stopWorker(dataDir);
  const host = new SessionHost({ dataDir, cwd: '/', env: {}, treeKill: detectTreeKill() });
  await host.closeAll('the test run has ended');
  host.detach();
  await stopServer(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}
