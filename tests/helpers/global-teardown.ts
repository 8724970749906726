import { rmSync } from 'node:fs';
import { endDataFolder } from './end-data-folder';

export default async function teardown(): Promise<void> {
  const dataDir = process.env.HOLDFAST_TEST_DATA;
  if (!dataDir) return;
  await endDataFolder(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}
