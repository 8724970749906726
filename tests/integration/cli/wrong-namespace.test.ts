// A namespace that the server does not have, beside a worker that runs in another one.
import { runningWorker } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engine-of-its-own';

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

test('without a worker, a missing namespace is told in the same words', async () => {
  await engine.killWorker();
  const { code, stderr } = await engine.cliInTurn(['exec', '--namespace', 'nope', 'true']);
  expect(stderr).toMatch(
    /^holdfast: namespace_missing: The Temporal server has no such namespace: got nope\. Next: /m,
  );
  expect(code).toBe(69);
}, 60_000);
