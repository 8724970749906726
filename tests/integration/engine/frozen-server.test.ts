// A Temporal server whose process exists but is stopped: commands say so, instead of waiting or taking it for absent.
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';

const engine = new EngineOfItsOwn({ ownServer: true });
beforeAll(() => engine.start(), 60_000);
afterAll(async () => {
  process.kill(engine.server().identity.pid, 'SIGCONT');
  expect(await engine.end()).toEqual([]);
}, 60_000);

/** Less than a start may take, and much less than a server is waited for. */
const SOON_MS = 20_000;

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
