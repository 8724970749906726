// A Temporal server whose process exists but is stopped: commands say so, instead of waiting or taking it for absent.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { quietenRuntime } from '../../../testing/quiet-runtime';
import { createWorkers } from '../../../workers';
import { until } from '../../helpers/until';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';

const engine = new EngineOfItsOwn({ ownServer: true });
beforeAll(() => engine.start(), 60_000);
afterAll(async () => {
  process.kill(engine.server().identity.pid, 'SIGCONT');
  expect(await engine.end()).toEqual([]);
}, 60_000);

/** Less than a start may take, and much less than a server is waited for. */
const SOON_MS = 20_000;
/** What `down` and `up` give a worker's process to stop. */
const KILLED_AFTER_MS = 15_000;

test.each([['ps'], ['exec', 'true'], ['up'], ['output']])(
  '`%s` says that the server is stopped by a signal, with the next step, and it goes on where it was',
  async (...args) => {
    const { identity } = engine.server();
    process.kill(identity.pid, 'SIGSTOP');
    const since = performance.now();
    const { code, stderr } = await engine.cliInTurn(args);
    expect(performance.now() - since).toBeLessThan(SOON_MS);
    expect(code).toBe(69);
    expect(stderr).toContain(`its process ${identity.pid} is stopped by a signal`);
    expect(stderr).toContain(`\`kill -CONT ${identity.pid}\``);
    process.kill(identity.pid, 'SIGCONT');
    expect((await engine.cliInTurn(['exec', 'echo on'])).stdout).toBe('on\n');
    expect(engine.server().identity).toEqual(identity);
  },
  60_000,
);

test('workers of agents stop in time, also while they look for enrolled hosts', async () => {
  quietenRuntime();
  const { identity, address } = engine.server();
  const dataDir = join(engine.dataDir, 'embedded');
  const workers = await createWorkers({ address, dataDir, host: null, queue: 'embedded' });
  const look = jest.spyOn(workers.client.namespaces, 'all');
  /** It gets no answer, whether it began before the server was stopped or after. */
  const isLooking = async (): Promise<boolean> => {
    const last = look.mock.results.at(-1)?.value as Promise<unknown> | undefined;
    if (!last) return false;
    const ended = last.then(
      () => false,
      () => false,
    );
    return Promise.race([ended, delay(200, true)]);
  };
  try {
    await new Promise<void>(
      (onReady, failed) => void workers.run({ onReady: () => onReady() }).catch(failed),
    );
    process.kill(identity.pid, 'SIGSTOP');
    await until(isLooking);
    const closed = workers.close().then(() => 'closed');
    expect(await Promise.race([closed, delay(KILLED_AFTER_MS, 'killed', { ref: false })])).toBe('closed');
  } finally {
    process.kill(identity.pid, 'SIGCONT');
    await workers.close();
  }
}, 90_000);
