// docs/tools.md for authors of scripts and tools: its blocks run unchanged and print what it says, its table
// of the built-in tools is what the registry holds.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { SessionHandle } from '../../client/session-handle';
import type { Runtime } from '../../contracts/sessions/session';
import { packageRoot } from '../../system/package-root';
import { createToolRegistry } from '../../tools/registry';
import { docBlocks, docTable, type DocBlock } from '../helpers/docs/doc-blocks';
import { EngineOfItsOwn } from '../helpers/engines/engine-of-its-own';

const PAGE = 'tools.md';
const SCRIPTS = ['Calling tools from a script', 'Several calls at a time'];
const RUNTIMES: Record<string, Runtime> = { python: 'python', js: 'nodejs', sh: 'terminal' };
/** Below the package, so that its modules find `holdfast` and `zod`, as those beside an installed one do. */
const MODULES = join(packageRoot(), 'dist', 'doc-tools');

const engine = new EngineOfItsOwn();
const blocks = docBlocks(PAGE);
let folder: string;
let session: SessionHandle;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-page-'));
  mkdirSync(MODULES, { recursive: true });
  await engine.start();
  session = engine.client.session({ agent: 'page', session: 0 }, { cwd: folder });
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  rmSync(folder, { recursive: true, force: true });
  rmSync(MODULES, { recursive: true, force: true });
  expect(left).toEqual([]);
}, 60_000);

test('the table of the built-in tools is what the registry holds', () => {
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');
  const marked = (schema: unknown): string[] => {
    const { properties = {}, required = [] } = schema as { properties?: object; required?: string[] };
    return Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`));
  };
  const rows = createToolRegistry()
    .describe()
    .map(({ name, parameters, result, effects, runsOn }) => {
      const fields = result ? code(marked(result)) : 'text';
      return [code([name]), code(marked(parameters)), fields, code([effects]), runsOn];
    });
  expect(docTable(PAGE, 'tool').sort()).toEqual(rows.sort());
});

async function outputOf({ language, code, file }: DocBlock): Promise<string> {
  if (file) writeFileSync(join(folder, file), code);
  const command: { runtime: Runtime; code: string } = file
    ? { runtime: 'terminal', code: `node ${file}` }
    : { runtime: RUNTIMES[language] ?? 'terminal', code };
  const { output, state } = await session.exec({
    ...command,
    yield: { firstOutputMs: 600_000, maxMs: 600_000 },
  });
  expect(state).toBe('exited');
  return output.replaceAll('\r', '');
}

test('every script of the page, run in a session unchanged, prints what the page says', async () => {
  const scripts = blocks.filter(({ title }) => SCRIPTS.includes(title));
  expect(scripts.map(({ language }) => language).sort()).toEqual([
    'js',
    'js',
    'js',
    'js',
    'python',
    'python',
    'sh',
  ]);
  // One after the other: what one writes the next one reads.
  for (const block of scripts)
    expect([block.code, await outputOf(block)]).toEqual([block.code, block.output]);
}, 60_000);

function blockOf(language: string): DocBlock {
  const found = blocks.find((block) => block.title === 'Writing a tool' && block.language === language);
  if (!found) throw new Error(`the page has no block of ${language}`);
  return found;
}

/** Runs it as a person would, with `holdfast` on PATH; returns all output. */
function inShell(code: string): Promise<string> {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  rmSync(join(bin, 'holdfast'), { force: true });
  symlinkSync(join(packageRoot(), 'bin', 'holdfast.js'), join(bin, 'holdfast'));
  const env = {
    ...process.env,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
    HOLDFAST_DATA: engine.dataDir,
  };
  return new Promise((resolve, reject) => {
    execFile('bash', ['-euc', code], { cwd: MODULES, env }, (err, stdout, stderr) =>
      err ? reject(new Error(`${stdout}\n${stderr}`)) : resolve(stdout),
    );
  });
}

test('the module of the page is loaded, shown and called by the commands of the page', async () => {
  const { file = '', code } = blockOf('js');
  writeFileSync(join(MODULES, file), code);
  const printed = (await inShell(blockOf('sh').code)).replaceAll('\r', '');
  expect(printed).toMatch(/^effects +once: /m);
  expect(printed).toMatch(/^\{"pieces":12\}\nordered 3 pieces of nuts$/m);
  expect(readFileSync(join(MODULES, 'orders.csv'), 'utf8')).toMatch(/^\S+\/call\/e\d+c2,nuts,3\n$/);
}, 60_000);

test('the configuration of the page loads the same module', async () => {
  writeFileSync(join(MODULES, 'holdfast.toml'), blockOf('toml').code);
  expect(await inShell('holdfast up --no-tools >/dev/null; holdfast tools')).not.toContain('stock_level');
  expect(await inShell('holdfast up --config holdfast.toml >/dev/null; holdfast tools')).toMatch(
    /^order_pieces +once +host .*\n(.*\n)*stock_level +read only +anywhere /m,
  );
}, 60_000);
