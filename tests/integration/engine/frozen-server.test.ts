// A Temporal server whose process exists but is stopped: commands say so, instead of waiting or taking it for absent.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { agentTasks } from '../../../workers/process/task-journal';
import { runDist } from '../../helpers/engines/dist-process';
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

/** Workers in a program of somebody else. Prints how many milliseconds their end took, the server being stopped. */
const EMBEDDED = `
  const { createWorkers } = load('workers/index');
  const [address, server, dataDir, when] = args;
  const freeze = () => process.kill(Number(server), 'SIGSTOP');
  let decoding = () => {};
  const payloadCodecs = [{ encode: async (all) => all, decode: async (all) => (decoding(), all) }];
  const queue = 'embedded-' + process.pid;
  const workers = await createWorkers({ address, dataDir, host: null, queue, dataConverter: { payloadCodecs } });
  const { namespaces, quota } = workers.client;
  const all = namespaces.all.bind(namespaces);
  let isLooking = false;
  namespaces.all = () => {
    isLooking = true;
    return all().finally(() => (isLooking = false));
  };
  await new Promise((onReady, failed) => void workers.run({ onReady: () => onReady() }).catch(failed));
  if (when === 'during a workflow task') {
    const frozen = new Promise((begun) => (decoding = () => (freeze(), begun())));
    quota.add({ run: 'one', messages: 1, tokens: 1, costUsd: null }).catch(() => {});
    await frozen;
    decoding = () => {};
  }
  freeze();
  while (when === 'during a look' && !isLooking) await new Promise((next) => setTimeout(next, 50));
  const since = performance.now();
  await workers.close();
  console.log(performance.now() - since);`;

test.each(['at rest', 'during a workflow task', 'during a look'])(
  'workers of agents whose server is frozen stop in time, their program ends, and the next ones give back what they had: %s',
  async (when) => {
    const { identity, address } = engine.server();
    const dataDir = join(engine.dataDir, `embedded-${when.replaceAll(' ', '-')}`);
    const program = runDist(EMBEDDED, address, String(identity.pid), dataDir, when);
    const tookMs = await program.nextLine().finally(() => process.kill(identity.pid, 'SIGCONT'));
    expect(Number(tookMs)).toBeLessThan(KILLED_AFTER_MS);
    await program.ended;
    expect(program.child.exitCode).toBe(0);
    // The next worker gives back what of it may not have reached the server. At rest a worker has nothing, and may end by
    // itself: its first polls are perhaps not on their way yet.
    if (when === 'during a workflow task') expect(readdirSync(agentTasks(dataDir))).toHaveLength(1);
  },
  90_000,
);
