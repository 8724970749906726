import { rmSync } from 'node:fs';
import { stopServer } from '../../engine/server';

export default async function teardown(): Promise<void> {
  const dataDir = process.env.HOLDFAST_TEST_DATA;
  if (!dataDir) return;
  await stopServer(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}
