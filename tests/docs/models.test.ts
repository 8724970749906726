// docs/models.md: its configuration is used unchanged, its tables match the code, its script runs.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveTokens } from '../../activities/agents/live-tokens';
import { HoldfastError, isErrorCode } from '../../contracts/errors/holdfast-error';
import { MODEL_ERRORS } from '../../contracts/errors/model-errors';
import { configurationSchema } from '../../contracts/schemas/configuration/configuration';
import { packageRoot } from '../../system/package-root';
import { createProviders } from '../../models/providers';
import { readConfiguration } from '../../workers/configuration/configuration';
import { docBlocks, docTable, type DocBlock } from '../helpers/docs/doc-blocks';

const PAGE = 'models.md';
/** Below the package, so that its modules find `holdfast`, as those beside an installed one do. */
const MODULES = join(packageRoot(), 'dist', 'doc-models');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-page-'));
  mkdirSync(MODULES, { recursive: true });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(MODULES, { recursive: true, force: true });
});

function blockOf(language: string): DocBlock {
  const found = docBlocks(PAGE).find((block) => block.language === language);
  if (!found) throw new Error(`the page has no block of ${language}`);
  return found;
}

test('the configuration of the page is taken, and its providers are found', () => {
  const file = join(folder, 'holdfast.toml');
  writeFileSync(file, blockOf('toml').code);
  const { models } = readConfiguration({ file, isNamed: true, env: {}, programEnv: {} });
  const find = createProviders({}, models);
  expect(['local:qwen', 'gateway:large', 'second:x'].map((model) => find(model).window)).toEqual([
    32_768,
    400_000,
    undefined,
  ]);
});

test('the tables of the page are the keys and the errors that there are', () => {
  const code = (cell = ''): string => cell.replaceAll('`', '');
  const { name, ...keys } = configurationSchema.shape.model_providers.def.innerType.def.valueType.shape;
  expect(
    docTable(PAGE, 'key')
      .map(([key]) => code(key))
      .sort(),
  ).toEqual(Object.keys(keys).sort());
  expect(name).toBeDefined();
  const rows = docTable(PAGE, 'code').map(([error, , again]) => [code(error), again]);
  const codes = Object.keys(MODEL_ERRORS).filter((error) => !/_(unknown|script_\w+)$/.test(error));
  const errors = codes.flatMap((error) => {
    if (!isErrorCode(error) || error === 'format_error') return [];
    return [[error, HoldfastError.received(error).retryable ? 'yes' : 'no']];
  });
  expect(rows.sort()).toEqual(errors.sort());
});

test('the script of the page shows what the model writes, and ends with the reply', async () => {
  const { file = '', code } = blockOf('js');
  const script = join(MODULES, file);
  writeFileSync(script, code);
  const hub = await LiveTokens.listen(folder);
  const call = { agent: 'mine', turn: 'agent/mine/turn/1' };
  const printed = new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [script, folder, 'mine'], (err, stdout) =>
      err ? reject(new Error('the script failed', { cause: err })) : resolve(stdout),
    );
  });
  let isWatched = false;
  while (!isWatched) {
    await hub.during(call, async ({ onText }) => {
      isWatched = onText !== undefined;
      onText?.('It ');
      onText?.('holds.');
    });
    await new Promise(setImmediate);
  }
  expect(await printed).toBe('It holds.');
  hub.close();
});
