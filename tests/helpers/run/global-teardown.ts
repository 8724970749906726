import { rmSync } from 'node:fs';
import { runningServer } from '../../../engine/server';
import { endDataFolder } from '../engines/end-data-folder';

export default async function teardown(): Promise<void> {
  const dataDir = process.env.HOLDFAST_TEST_DATA;
  if (!dataDir) return;
  if (!(await runningServer(dataDir)))
    process.stderr.write(
      "The run's Temporal server ended during the run: tests that failed may have lacked it.\n",
    );
  await endDataFolder(dataDir);
  rmSync(dataDir, { recursive: true, force: true });
}
