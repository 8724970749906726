// A namespace on the run's server for one data folder: nothing that happens there concerns another test file, and no
// server is started for it.
import { copyFileSync, rmSync } from 'node:fs';
import { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import {
  createEngineFolder,
  enginePaths,
  readRecord,
  writeRecord,
  type EngineRecord,
} from '../../../engine/record';
import { isAlive } from '../../../system/processes/process-identity';
import { registerSearchAttributes } from '../../../workers/search-attributes';
import { testAddress, testClient, testDataDir } from './temporal';

/** Makes the run's server that of the data folder, as if it had been started for it. */
export async function borrowServer(dataDir: string, namespace: string): Promise<EngineRecord> {
  const runs = enginePaths(testDataDir());
  const record = readRecord(runs);
  if (!record || !isAlive(record.identity)) throw new Error("the run's Temporal server is gone");
  const own = enginePaths(dataDir);
  if (readRecord(own)) return record;
  const client = await testClient();
  const { connection, workflowService } = client.temporal;
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('24 hours'),
  });
  await registerSearchAttributes(new Client({ connection, namespace }));
  await client.close();
  createEngineFolder(own);
  copyFileSync(runs.uiAuthorization, own.uiAuthorization);
  writeRecord(own, record);
  return record;
}

/** From then on, ending the data folder leaves the run's server alone; it ends one that a command line has started. */
export function returnServer(dataDir: string): void {
  const paths = enginePaths(dataDir);
  if (readRecord(paths)?.address === testAddress()) rmSync(paths.record);
}
