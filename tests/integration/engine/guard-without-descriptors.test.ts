// Anybody on the machine can open connections to the guard of the web UI until it has no file descriptor left.
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { compiledEntry } from '../../../system/package-root';
import { identityOf } from '../../../system/processes/process-identity';
import { freePort } from '../../helpers/free-port';
import { until } from '../../helpers/until';

/** It looks at its server twice a second. */
const THREE_LOOKS_MS = 1_500;

test('a guard that has no descriptor left goes on, and answers when it has some again', async () => {
  const port = await freePort();
  const config = {
    listen: { address: '127.0.0.1', port },
    target: { address: '127.0.0.1', port: await freePort() },
    hosts: [`127.0.0.1:${port}`],
    tokenFile: null,
    server: identityOf(process.pid),
  };
  const entry = compiledEntry('engine/ui-guard/ui-guard-main.js');
  const shell = ['-c', 'ulimit -n 60; exec "$@"', 'sh', process.execPath, entry, JSON.stringify(config)];
  const guard = spawn('/bin/sh', shell, { stdio: 'ignore' });
  const status = async (): Promise<number | undefined> =>
    fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(2_000) }).then(
      (response) => response.status,
      () => undefined,
    );
  const many: Socket[] = [];
  try {
    await until(async () => (await status()) !== undefined);
    const before = await status();
    for (let i = 0; i < 100; i++) many.push(connect(port, '127.0.0.1').on('error', () => undefined));
    await delay(THREE_LOOKS_MS);
    expect(guard.exitCode).toBeNull();
    for (const one of many) one.destroy();
    await until(async () => (await status()) === before);
  } finally {
    guard.kill('SIGKILL');
  }
}, 60_000);
