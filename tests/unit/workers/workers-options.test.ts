// Options of `createWorkers` that cannot mean anything are refused before anything is read, made or connected.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encryptedPayloads } from '../../../encryption';
import { createWorkers } from '../../../workers';
import { checkWorkersOptions } from '../../../workers/workers-options';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-workers-options-'))));
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  [{ drainMs: NaN }, 'got drainMs: NaN, allowed drainMs: milliseconds, from 0'],
  [{ drainMs: -5 }, 'got drainMs: -5'],
  // Longer than Node's timers: it would end at once.
  [
    { drainMs: 2_147_483_648 },
    'got drainMs: 2147483648, allowed drainMs: milliseconds, from 0 to 2073600000',
  ],
  [{ drainMs: 'x' }, "got drainMs: 'x'"],
  [{ checkpoints: 'sometimes' }, "got checkpoints: 'sometimes', allowed checkpoints: auto, on, off"],
  [{ env: { A: 5 } }, 'got env: an object with A, allowed env: an object whose values are texts'],
  [{ workdir: '' }, "got workdir: ''"],
  [{ models: { a: 5 } }, 'got models: an object with a'],
  [{ log: {} }, 'allowed log: a logger with info() and warn()'],
  [{ connection: {} }, 'allowed connection: a NativeConnection'],
  [{ queue: 'My Queue' }, 'The queue id is invalid: got "My Queue"'],
  [{ dataDir: undefined }, 'got dataDir: undefined, allowed dataDir: the path of a folder'],
  [{ tool: [], agent: true }, 'got tool: []; agent: true, allowed the options dataDir, host, agents'],
  [{ dataConverter: { payloadConverterPath: '/nope.js' } }, 'allowed dataConverter: only `payloadCodecs`'],
  [{ dataConverter: { failureConverterPath: '/nope.js' } }, 'allowed dataConverter: only `payloadCodecs`'],
])('the options %p are refused before anything is made', async (wrong, text) => {
  const dataDir = join(folder, 'data');
  const made = createWorkers({ address: '127.0.0.1:1', dataDir, ...wrong } as never);
  await expect(made).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(text) as string,
  });
  expect(existsSync(dataDir)).toBe(false);
});

test('no options at all are refused, with what there is', async () => {
  await expect(createWorkers(null as never)).rejects.toThrow(
    'What createWorkers() takes is invalid: got null, allowed an object with dataDir, host',
  );
});

test('codecs, our own converters and options that are undefined are accepted', () => {
  const none = { host: undefined, env: undefined, tools: undefined, models: undefined, log: undefined };
  for (const dataConverter of [encryptedPayloads({ keys: [] }, {}), { payloadCodecs: [] }, undefined])
    expect(() => checkWorkersOptions({ dataDir: '/x', ...none, dataConverter })).not.toThrow();
});
