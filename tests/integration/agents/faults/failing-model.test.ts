// What people see of a model that cannot be reached, while Temporal tries it again.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';
import { until } from '../../../helpers/until';

const engine = new EngineOfItsOwn();
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-failing-'));
  const config = join(folder, 'holdfast.toml');
  writeFileSync(config, '[model_providers.absent]\nbase_url = "http://127.0.0.1:9/v1"\n');
  await engine.start({ config });
  // Its time passes while the other test runs. Long enough for an attempt on a busy machine.
  await engine.client.agent('late').start({ task: 'hello', model: 'absent:x', limits: { wallMs: 20_000 } });
}, 60_000);
afterAll(async () => {
  expect(await engine.end()).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const TROUBLE =
  /waits for the model; attempt \d+ failed: model_unreachable: .*absent:x.*; next attempt at \d\d:\d\d:\d\d/;

test('a model that fails is named to those who wait for it, with its error, the attempt and the next one', async () => {
  const run = engine.spawnCli(['run', 'hello', '--agent', 'waiting', '--model', 'absent:x']);
  let said = '';
  run.stderr?.on('data', (chunk: Buffer) => (said += String(chunk)));
  await until(() => TROUBLE.test(said), 60_000);
  const row = /agent\/waiting\/turn\/1 .*waits for the model.*; attempt \d+ failed: model_unreachable: /;
  await until(async () => row.test((await engine.cliInTurn(['ps'])).stdout));
  const ended = once(run, 'exit');
  await engine.cliInTurn(['stop', 'waiting']);
  expect((await ended)[0]).not.toBe(0);
}, 120_000);

test('a turn whose time runs out while its model fails says why it failed', async () => {
  expect(await engine.client.agent('late').result()).toMatchObject({
    answer: null,
    reason: 'time_limit',
    error: { code: 'model_unreachable', message: expect.stringContaining('absent:x') as string },
  });
}, 60_000);
