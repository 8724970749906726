// A namespace that the server does not have, beside a worker that runs in another one; and a server that is none.
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { runningWorker } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';

const engine = new EngineOfItsOwn();
beforeAll(() => engine.start(), 60_000);
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

test.each([['exec', 'true'], ['up']])(
  '`%s` names a namespace that is missing, and leaves the worker that runs as it was',
  async (...args) => {
    const before = runningWorker(engine.dataDir);
    const { code, stderr } = await engine.cliInTurn([...args, '--namespace', 'nope']);
    expect(stderr).toContain('namespace_missing: The Temporal server has no such namespace: got nope.');
    expect(stderr).toContain(`the previous worker (pid ${before?.identity.pid}) keeps running as it was`);
    expect(code).toBe(69);
    expect(before).toBeDefined();
    expect(runningWorker(engine.dataDir)).toEqual(before);
    expect((await engine.cliInTurn(['exec', 'echo on'])).stdout).toBe('on\n');
  },
  60_000,
);

test.each([
  'ps',
  'ps --all',
  'tree',
  'wait 0',
  'output',
  'input x',
  'close',
  'approve --list',
  'send nobody hello',
  'log nobody',
  'host ls',
])(
  '`%s` says that the namespace is missing, and calls it no bug',
  async (line) => {
    const { code, stderr } = await engine.cliInTurn([...line.split(' '), '--namespace', 'nope']);
    expect(stderr).toContain('namespace_missing');
    expect(code).toBe(69);
  },
  60_000,
);

test.each(['ps', 'exec true', 'host ls', 'approve --list', 'worker --agents-only'])(
  '`%s` says that something else than a Temporal server is at the address, and calls it no bug',
  async (line) => {
    // A proxy, or any other program that speaks HTTP/2.
    const other = createServer().on('stream', (stream) => {
      stream.respond({ ':status': 404 });
      stream.end('not found');
    });
    await once(other.listen(0, '127.0.0.1'), 'listening');
    const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const data = join(engine.dataDir, 'elsewhere');
    const { code, stderr } = await engine.cli([...line.split(' '), '--address', address, '--data', data]);
    other.close();
    expect(stderr).toContain('holdfast: no_server: No Temporal server answers at');
    expect(code).toBe(69);
  },
  60_000,
);

test('without a worker, a missing namespace is told in the same words', async () => {
  await engine.killWorker();
  const { code, stderr } = await engine.cliInTurn(['exec', '--namespace', 'nope', 'true']);
  expect(stderr).toMatch(
    /^holdfast: namespace_missing: The Temporal server has no such namespace: got nope\. Next: /m,
  );
  expect(code).toBe(69);
}, 60_000);
