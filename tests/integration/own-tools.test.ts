// Own tools in the command line's worker, as a person loads them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../exec/package-root';
import { runningWorker } from '../../workers/worker-record';
import { EngineOfItsOwn } from '../helpers/engine-of-its-own';
import { call, scratch, uniqueId, type Scratch } from '../helpers/temporal';

const MODULE = join(packageRoot(), 'tests', 'fixtures', 'journal-tools.mjs');

const engine = new EngineOfItsOwn();
let files: Scratch;
beforeAll(async () => {
  files = scratch();
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

/** An agent that calls one tool and answers; resolves with what the tool gave it. */
async function resultOf(
  tool: string,
  args: object,
  meanwhile = async (): Promise<void> => undefined,
): Promise<string> {
  const agent = engine.client.agent(uniqueId('tools'));
  await agent.start({ task: 'x', model: files.model([{ text: call(tool, args) }, { text: 'done' }]) });
  await meanwhile();
  await agent.result();
  const { messages } = await agent.transcript();
  return messages.flatMap((message) => (message.role === 'tool' ? [message.content] : [])).join();
}

async function untilWritten(file: string): Promise<void> {
  for (;;) {
    try {
      if (readFileSync(file, 'utf8') !== '') return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

test('a module that does not load, or holds no tools, is a clear error, and the next start goes without it', async () => {
  const broken = join(files.directory, 'broken.mjs');
  writeFileSync(broken, 'throw new Error("no key in the environment");');
  const empty = join(files.directory, 'empty.mjs');
  writeFileSync(empty, 'export const tool = 1;');
  for (const [file, reason] of [
    [broken, 'no key in the environment'],
    [empty, 'it has no `export const tools = [...]`'],
    [join(files.directory, 'absent.mjs'), 'Cannot find module'],
  ] as const) {
    const { code, stderr } = await engine.cli(['up', '--tools', file]);
    expect(code).toBe(70);
    expect(stderr).toContain(`tools_not_loaded: The tools of ${file} could not be loaded`);
    expect(stderr).toContain(reason);
  }
  expect((await engine.cli(['up'])).code).toBe(0);
}, 60_000);

test.each([
  [
    'does not load',
    'throw new Error("no key in the environment");',
    /tools_not_loaded.*no key in the environ/,
  ],
  [
    'holds a tool whose name is taken',
    `export const tools = [{ name: 'INPUT', description: 'x', args: { _zod: {} }, effects: 'once', run() {} }];`,
    /tool_name_taken/,
  ],
])(
  'a module that %s leaves the worker that runs with its tools',
  async (what, source, reason) => {
    const file = join(files.directory, 'written');
    expect((await engine.cli(['up', '--tools', MODULE])).code).toBe(0);
    const before = runningWorker(engine.dataDir);
    const faulty = join(files.directory, `${what.replaceAll(' ', '-')}.mjs`);
    writeFileSync(faulty, source);
    const { code, stderr } = await engine.cli(['up', '--tools', faulty]);
    expect(code).toBe(70);
    expect(stderr).toMatch(reason);
    expect(stderr).toContain(`the one before goes on (pid ${before?.identity.pid})`);
    expect(runningWorker(engine.dataDir)).toEqual(before);
    expect(await resultOf('write_again', { file })).toBe('written');
    expect((await engine.cli(['up', '--no-tools'])).code).toBe(0);
  },
  60_000,
);

test('a module with a tool whose name is taken is refused by name', async () => {
  const file = join(files.directory, 'taken.mjs');
  writeFileSync(
    file,
    `const args = { _zod: {} }, run = async () => '';
     export const tools = [{ name: 'INPUT', description: 'x', args, effects: 'once', run }];`,
  );
  const { stderr } = await engine.cli(['up', '--tools', file]);
  expect(stderr).toContain('tool_name_taken');
  expect(stderr).toContain('got INPUT beside input');
}, 60_000);

test('a worker that is started again loads the tools again, until they are taken away', async () => {
  const file = join(files.directory, 'loaded');
  expect((await engine.cli(['up', '--tools', MODULE])).code).toBe(0);
  expect(await resultOf('write_again', { file })).toBe('written');
  await engine.killWorker();
  await engine.startWorker();
  expect(await resultOf('write_again', { file })).toBe('written');
  expect((await engine.cli(['up', '--no-tools'])).code).toBe(0);
  expect(await resultOf('write_again', { file })).toContain('unknown_tool');
  expect(readFileSync(file, 'utf8')).toBe('write_again 1\nwrite_again 1\n');
}, 60_000);

test('a module of CommonJS loads as well, and its tool tells the model what to mend', async () => {
  const example = join(packageRoot(), 'dist', 'examples', 'own-tools.js');
  expect((await engine.cli(['up', '--tools', example])).code).toBe(0);
  expect(await resultOf('stock_level', { article: 'bolts' })).toBe('12 pieces of bolts');
  expect(await resultOf('stock_level', { article: 'nails' })).toMatch(
    /^Error invalid_input.*allowed bolts, nuts/,
  );
  expect(await resultOf('take_out', { article: 'bolts', pieces: 2 })).toBe('10 pieces are left.');
  expect(await resultOf('take_out', { article: 'bolts', pieces: 11 })).toMatch(
    /^Error invalid_input.*got 11, allowed at most 10/,
  );
  const space = JSON.parse(await resultOf('free_space', {})) as { host: string; bytes: number };
  expect(space.host).toBe('local');
  expect(space.bytes).toBeGreaterThan(0);
}, 60_000);

test.each([
  ['write_once', 'once', /unknown_outcome.*it is not to run twice/, 'write_once 1\n'],
  ['write_again', 'again', /^written$/, 'write_again 1\nwrite_again 2\n'],
])(
  'a worker that is killed in a call of %s: it has run %s',
  async (tool, _times, result, runs) => {
    expect((await engine.cli(['up', '--tools', MODULE])).code).toBe(0);
    const file = join(files.directory, `killed-${tool}`);
    const kill = async (): Promise<void> => {
      await untilWritten(file);
      await engine.killWorker();
      await engine.startWorker();
    };
    expect(await resultOf(tool, { file, ms: 600_000 }, kill)).toMatch(result);
    expect(readFileSync(file, 'utf8')).toBe(runs);
  },
  60_000,
);
