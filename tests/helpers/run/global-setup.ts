// One real Temporal server and one worker process for the whole run, in a data folder of their own. Tests that
// kill a worker have their own, in a namespace of their own; those that kill the server, too: see engine-of-its-own.ts.
import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureWorker } from '../../../workers/process/worker-process';
import { uiLink } from '../../../engine/server';
import { startServer } from '../engines/start-server';
import { findTestServer } from '../../../testing';

const QUIET_MS = 5_000;
/** Files make namespaces, and use their search attributes at once: the server would know these two seconds later. */
const NEW_NAMESPACES = { 'system.forceSearchAttributesCacheRefreshOnRead': true };
const BIN = join(__dirname, '..', '..', '..', 'bin', 'holdfast.js');
/** Reads until jest ends, however it does. The teardown removes the folder. */
const AFTER_RUN = 'read -r _; if [ -e "$HOLDFAST_DATA" ]; then "$@"; rm -rf "$HOLDFAST_DATA"; fi';

export default async function setup(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  endIfKilled(dataDir);
  const startedAt = Date.now();
  const told = (line: string): void => {
    // That the server is built is worth a line, that it is started is not.
    if (Date.now() - startedAt > QUIET_MS) process.stderr.write(`${line}\n`);
  };
  const server = await startServer(dataDir, told, NEW_NAMESPACES);
  // Tests of checkpoints have workers of their own; the others' agents share a folder.
  writeFileSync(join(dataDir, 'holdfast.toml'), '[checkpoints]\nenabled = "off"\n');
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

/** A run that is killed leaves neither server nor worker behind. */
function endIfKilled(dataDir: string): void {
  const down = [process.execPath, BIN, 'down', '--sessions'];
  const child = spawn('/bin/sh', ['-c', AFTER_RUN, 'sh', ...down], {
    detached: true,
    env: { ...process.env, HOLDFAST_DATA: dataDir },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.unref();
  (child.stdin as Socket).unref();
}
