// Own tools in the command line's worker, as a person loads them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../../system/package-root';
import { runningWorker } from '../../../workers/process/worker-record';
import { EngineOfItsOwn, processesNaming } from '../../helpers/engines/engine-of-its-own';
import { call, scratch, uniqueId, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

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
    const { code, stderr } = await engine.cliInTurn(['up', '--tools', file]);
    expect(code).toBe(78);
    expect(stderr).toContain(`tools_not_loaded: The tools of ${file} could not be loaded`);
    expect(stderr).toContain(reason);
  }
  expect((await engine.cliInTurn(['up'])).code).toBe(0);
}, 60_000);

describe('a module in TypeScript', () => {
  /** In a package of its own, as `type` says. */
  function moduleOf(name: string, source: string, type?: string): string {
    const folder = join(files.directory, uniqueId('typed'));
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    if (type) writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }));
    writeFileSync(file, source);
    return file;
  }
  const TYPED = `
    interface Named { name: string }
    const named = (given: readonly Named[]): Named[] => [...given];
    export const tools: Named[] = named([]);`;

  test('of a package of either type or of none loads as it is', async () => {
    const modules = [
      moduleOf('tools.ts', TYPED, 'module'),
      moduleOf('tools.mts', TYPED, 'commonjs'),
      moduleOf('tools.ts', TYPED),
    ];
    const { code, stderr } = await engine.cliInTurn(['up', ...modules.flatMap((file) => ['--tools', file])]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
  }, 60_000);

  test.each([
    {
      what: 'for a Node without it',
      file: () => moduleOf('tools.ts', TYPED, 'module'),
      env: { NODE_OPTIONS: '--no-experimental-strip-types' },
      says: /Node \S+, as it was started, does not run TypeScript\. Use Node 22\.18 or newer, or compile/,
    },
    {
      what: 'that imports some, for a Node without it',
      file: () => {
        const typed = moduleOf('tools.mts', TYPED);
        const plain = join(dirname(typed), 'plain.mjs');
        writeFileSync(plain, `export { tools } from './tools.mts';`);
        return plain;
      },
      env: { NODE_OPTIONS: '--no-experimental-strip-types' },
      says: /does not run TypeScript/,
    },
    {
      what: 'below node_modules',
      file: () => moduleOf('node_modules/own/tools.mts', TYPED),
      says: /Copy it to a folder that is not below node_modules/,
    },
    {
      what: 'with an enum',
      file: () => moduleOf('tools.mts', `enum Kind { one }\n${TYPED}`),
      says: /enum is not supported.*Node only removes types.*`erasableSyntaxOnly`/,
    },
    {
      what: 'that Node reads as CommonJS',
      file: () => moduleOf('tools.ts', TYPED, 'commonjs'),
      says: /Node reads it as CommonJS: name it \.mts/,
    },
  ])(
    '$what is refused with what to change',
    async ({ file, env = {}, says }) => {
      const { code, stderr } = await engine.cliInTurn(['up', '--tools', file()], { env });
      expect(stderr).toMatch(says);
      expect(code).toBe(78);
    },
    60_000,
  );
});

test.each([
  [
    'does not load',
    'throw new Error("no key in the environment");',
    /tools_not_loaded.*no key in the environ/,
  ],
  [
    'holds a tool whose name is taken',
    `import { z } from ${JSON.stringify(pathToFileURL(require.resolve('zod')).href)};
    export const tools = [{ name: 'INPUT', description: 'x', args: z.object({}), effects: 'once', run() {} }];`,
    /tool_name_taken.*got INPUT beside input/s,
  ],
])(
  'a module that %s leaves the worker that runs with its tools',
  async (what, source, reason) => {
    const file = join(files.directory, 'written');
    expect((await engine.cliInTurn(['up', '--tools', MODULE])).code).toBe(0);
    const before = runningWorker(engine.dataDir);
    const faulty = join(files.directory, `${what.replaceAll(' ', '-')}.mjs`);
    writeFileSync(faulty, source);
    const { code, stderr } = await engine.cliInTurn(['up', '--tools', faulty]);
    // As without a worker that runs.
    expect(code).toBe(78);
    expect(stderr).toMatch(reason);
    expect(stderr).toContain(`the previous worker (pid ${before?.identity.pid}) keeps running as it was`);
    const { error } = JSON.parse((await engine.cliInTurn(['up', '--json', '--tools', faulty])).stderr) as {
      error: { facts: object };
    };
    expect(error.facts).toMatchObject({ keptPid: before?.identity.pid });
    expect(runningWorker(engine.dataDir)).toEqual(before);
    expect(await resultOf('write_again', { file })).toBe('written');
  },
  60_000,
);

test('while the next worker loads its modules, each once, the previous one serves', async () => {
  const loads = join(files.directory, 'loads');
  const go = join(files.directory, 'go-on');
  const slow = join(files.directory, 'slow.mjs');
  writeFileSync(
    slow,
    `import { appendFileSync, existsSync } from 'node:fs';
appendFileSync(${JSON.stringify(loads)}, 'x');
while (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 20));
export const tools = [];`,
  );
  const before = runningWorker(engine.dataDir);
  const upgrade = engine.cliInTurn(['up', '--tools', slow]);
  await untilWritten(loads);
  const { output } = await engine.client.session({ agent: 'served', session: 0 }).exec({ code: 'echo yes' });
  expect(output).toBe('yes\n');
  expect(runningWorker(engine.dataDir)).toEqual(before);
  writeFileSync(go, '');
  expect((await upgrade).code).toBe(0);
  expect(runningWorker(engine.dataDir)?.identity).not.toEqual(before?.identity);
  expect(readFileSync(loads, 'utf8')).toBe('x');
}, 60_000);

test('an `up` that is killed while the next worker loads leaves the previous one, and nothing else', async () => {
  const begun = join(files.directory, 'hanging-begun');
  const hanging = join(files.directory, 'hanging.mjs');
  writeFileSync(
    hanging,
    `import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(begun)}, 'x');
await new Promise((resolve) => setTimeout(resolve, 1e9));`,
  );
  const before = runningWorker(engine.dataDir);
  const upgrade = engine.spawnCli(['up', '--tools', hanging]);
  await untilWritten(begun);
  upgrade.kill('SIGKILL');
  await until(() => processesNaming(hanging).length === 0);
  expect(runningWorker(engine.dataDir)).toEqual(before);
  const { output } = await engine.client.session({ agent: 'served', session: 0 }).exec({ code: 'echo yes' });
  expect(output).toBe('yes\n');
}, 60_000);

test.each([
  ['write_once', 'once', /unknown_outcome.*must not run twice/, 'write_once 1\n'],
  ['write_again', 'again', /^written$/, 'write_again 1\nwrite_again 2\n'],
])(
  'a worker killed during a call of %s: it has run %s',
  async (tool, _times, result, runs) => {
    expect((await engine.cliInTurn(['up', '--tools', MODULE])).code).toBe(0);
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

test('a restarted worker loads the tools again, until they are removed', async () => {
  const file = join(files.directory, 'loaded');
  expect((await engine.cliInTurn(['up', '--tools', MODULE])).code).toBe(0);
  expect(await resultOf('write_again', { file })).toBe('written');
  await engine.killWorker();
  await engine.startWorker();
  expect(await resultOf('write_again', { file })).toBe('written');
  expect((await engine.cliInTurn(['up', '--no-tools'])).code).toBe(0);
  expect(await resultOf('write_again', { file })).toContain('unknown_tool');
  expect(readFileSync(file, 'utf8')).toBe('write_again 1\nwrite_again 1\n');
}, 60_000);
