// One real Temporal server and one worker process for the whole run, in a data folder of their own. Tests that
// kill things start their own: see engine-of-its-own.ts.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureWorker } from '../../workers/process/worker-process';
import { uiLink } from '../../engine/server';
import { startServer } from './start-server';
import { findTestServer } from '../../testing';

const QUIET_MS = 5_000;

export default async function setup(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const startedAt = Date.now();
  const server = await startServer(dataDir, (line) => {
    // That the server is built is worth a line, that it is started is not.
    if (Date.now() - startedAt > QUIET_MS) process.stderr.write(`${line}\n`);
  });
  await ensureWorker({ dataDir, address: server.address, namespace: 'default', env: process.env });
  // Workers of the run inherit these.
  process.env.HOLDFAST_TEST_DATA = dataDir;
  process.env.HOLDFAST_TEST_ADDRESS = server.address;
  process.env.HOLDFAST_TEST_UI = server.uiUrl;
  process.env.HOLDFAST_TEST_UI_LINK = uiLink(dataDir, server);
  process.env.HOLDFAST_TEST_CLI = server.binary;
  const timeSkipping = await findTestServer();
  if ('server' in timeSkipping) process.env.HOLDFAST_TEST_SERVER = timeSkipping.server;
  else process.stderr.write(`Time skipping is not tested: ${timeSkipping.missing}\n`);
}
