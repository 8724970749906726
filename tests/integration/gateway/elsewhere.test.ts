// What happens on other machines: the gateway has no access to their data folders, only to the server.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WrittenElsewhere } from '../../../gateway/events/written-elsewhere';
import { LiveTokens } from '../../../activities/agents/live-tokens';
import { ensureWorker } from '../../../workers/process/worker-process';
import { endDataFolder } from '../../helpers/engines/end-data-folder';
import { readEvents } from '../../helpers/gateway/gateway';
import { GatewayOfItsOwn } from '../../helpers/gateway/gateway-of-its-own';
import { ModelSimulator } from '../../helpers/services/model-simulator';
import { uniqueId } from '../../helpers/engines/temporal';

const FAR = 'far';
const own = new GatewayOfItsOwn();
const { engine } = own;
const farFolder = mkdtempSync(join(tmpdir(), 'holdfast-far-'));
let simulator: ModelSimulator;
beforeAll(async () => {
  simulator = await ModelSimulator.start();
  const provider = `[model_providers.sim]\nbase_url = "${simulator.url}/v1"\nwire_api = "chat"\n`;
  writeFileSync(join(farFolder, 'holdfast.toml'), provider);
  await own.start({ worker: false });
  const { namespace } = engine;
  const { address } = engine.server();
  await ensureWorker({ dataDir: farFolder, address, namespace, host: FAR, env: process.env });
}, 120_000);
afterAll(() => own.end(), 120_000);
afterAll(async () => {
  await simulator.stop();
  await endDataFolder(farFolder);
  rmSync(farFolder, { recursive: true, force: true });
}, 120_000);

test('text that a model writes on another machine comes while it writes, and so does the growth of an output there', async () => {
  // Longer than several heartbeats.
  const answer = Array.from({ length: 100 }, (_, n) => `word ${n}`).join(' ');
  simulator.mock.on({ userMessage: 'how is it?' }, { content: answer }, { chunkSize: 8, latency: 100 });
  const agent = uniqueId('far');
  await own.api.post('/v1/agents', {
    ...{ id: agent, mode: 'conversation', model: 'sim:any', host: FAR },
    cwd: '/tmp',
  });
  await own.api.post(`/v1/sessions/${agent}/${FAR}/0/exec`, { code: 'echo grown' });
  const { events } = await readEvents(`${own.gateway.url}/v1/agents/${agent}/events`, {
    token: own.api.token ?? '',
    enough: ({ event }) => event === 'turn_ended',
    onFirst: () => own.api.post(`/v1/agents/${agent}/messages`, { message: 'how is it?' }),
  });
  const tokens = events.filter(({ event }) => event === 'token').map(({ data }) => data);
  const texts = tokens.filter(({ kind }) => kind === 'text').map(({ text }) => String(text));
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.join('').length).toBeGreaterThan(20);
  // Nothing twice, nothing left out, nothing of another call.
  expect(answer.startsWith(texts.join(''))).toBe(true);
  expect(events).toContainEqual({ event: 'output', data: { host: FAR, session: 0, end: 7 } });
}, 120_000);

describe('looks at what is written', () => {
  const turn = 'agent/a/turn/1';
  const written = (length: number, end: string, attempt = 1): Parameters<WrittenElsewhere['look']>[1] => ({
    ...{ id: 'run 5', attempt },
    written: { writer: '17-abcd', length, end },
  });
  const look = (): WrittenElsewhere => new WrittenElsewhere(engine.dataDir, 'a');

  test('only what is new is told, a part that is gone is marked, and a further attempt begins anew', () => {
    const it = look();
    expect(it.look(turn, written(3, 'abc'))).toEqual([{ kind: 'text', agent: 'a', turn, text: 'abc' }]);
    expect(it.look(turn, written(3, 'abc'))).toEqual([]);
    expect(it.look(turn, written(6, 'bcdef'))).toEqual([{ kind: 'text', agent: 'a', turn, text: 'def' }]);
    expect(it.look(turn, written(20, 'xyz'))).toEqual([{ kind: 'text', agent: 'a', turn, text: '…xyz' }]);
    expect(it.look(turn, written(2, 'ab', 2))).toEqual([
      { kind: 'reset', agent: 'a', turn },
      { kind: 'text', agent: 'a', turn, text: 'ab' },
    ]);
    expect(it.look(null, null)).toEqual([{ kind: 'end', agent: 'a', turn }]);
  });

  test('what a worker of this data folder writes is left to its own hub', async () => {
    const hub = await LiveTokens.listen(engine.dataDir, true);
    try {
      const said = hub.during({ agent: 'a', turn }, ({ onText }) => {
        onText?.('abc');
        return Promise.resolve(hub.writtenFor('a'));
      });
      const written = await said;
      expect(written).toMatchObject({ length: 3, end: 'abc' });
      expect(look().look(turn, { id: 'x', attempt: 1, written: written ?? null })).toEqual([]);
    } finally {
      hub.close();
    }
  });
});
