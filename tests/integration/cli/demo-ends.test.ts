// `holdfast demo` where it cannot show anything.
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { runningWorker } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';

const engine = new EngineOfItsOwn();
beforeAll(() => engine.start(), 60_000);
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

test('the demo refuses a server that is named, and kills nothing', async () => {
  const { address } = engine.server();
  const worker = runningWorker(engine.dataDir);
  for (const [args, env] of [
    [['--address', address], {}],
    [[], { TEMPORAL_ADDRESS: address }],
  ] as const) {
    const { code, stderr } = await engine.cli(['demo', ...args], { env });
    expect([code, stderr]).toEqual([
      64,
      expect.stringMatching(/invalid_input: .*the demo.*unset TEMPORAL_ADDRESS/),
    ]);
  }
  expect(runningWorker(engine.dataDir)?.identity).toEqual(worker?.identity);
});

test('the demo ends when its agent is stopped before its worker is killed', async () => {
  const worker = runningWorker(engine.dataDir);
  const running = engine.spawnCli(['demo']);
  const ended = once(running, 'exit');
  const said = text(running.stderr as Readable);
  // It has started its agent then.
  await once(running.stdout as Readable, 'data');
  const [id = ''] = readdirSync(join(engine.dataDir, 'demo'));
  await engine.client.agent(id).stop();
  expect(await ended).toEqual([75, null]);
  expect(await said).toContain('there is nothing to count');
  expect(runningWorker(engine.dataDir)?.identity).toEqual(worker?.identity);
}, 60_000);
