import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DIALECTS, type DialectName } from '../../../../contracts/models/dialect-names';
import type { ToolDescription } from '../../../../contracts/tools/tools';
import { createDialects } from '../../../../models/dialects/dialects';

/** Two tools, so that the whole prompt can be read: tests/fixtures/dialects/NAME.prompt.md. */
const TOOLS: ToolDescription[] = [
  {
    name: 'fetch',
    description: 'Gets a page. {TOOL_TAG_START} and $& in a description are text.',
    parameters: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
    result: { type: 'object', properties: { status: { type: 'integer' }, body: { type: 'string' } } },
    effects: 'read_only',
    runsOn: 'host',
  },
  {
    name: 'input',
    description: 'Types into a session.',
    parameters: {
      type: 'object',
      properties: { session: { type: 'integer' }, keyboard: { type: 'string' } },
    },
    result: null,
    effects: 'idempotent',
    runsOn: 'anywhere',
  },
];

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-prompts-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const prompt = (name: DialectName, promptFolder?: string): string =>
  createDialects({ promptFolder })(name).instructions(TOOLS);
const refused = (): string => {
  try {
    createDialects({ promptFolder: folder });
    return '';
  } catch (err) {
    expect(err).toMatchObject({ code: 'config_invalid' });
    return (err as Error).message;
  }
};

test.each(DIALECTS)('the prompt of %s is what its golden file says', (name) => {
  const golden = join(__dirname, '..', '..', '..', 'fixtures', 'dialects', `${name}.prompt.md`);
  if (process.env.UPDATE_GOLDEN) writeFileSync(golden, `${prompt(name)}\n`);
  expect(`${prompt(name)}\n`).toBe(readFileSync(golden, 'utf8'));
});

test.each(DIALECTS)('the prompt of %s is the same for the same tools, and another for others', (name) => {
  const dialect = createDialects()(name);
  const first = dialect.instructions(TOOLS);
  expect(dialect.instructions(structuredClone(TOOLS))).toBe(first);
  const changed = TOOLS.map((tool) => ({ ...tool, description: 'Another.' }));
  expect(dialect.instructions(changed) === first).toBe(name === 'native');
  for (let count = 0; count < 40; count++) dialect.instructions([{ ...TOOLS[0]!, name: `tool_${count}` }]);
  expect(dialect.instructions(TOOLS)).toBe(first);
});

test('your own prompt replaces ours, the others stay', () => {
  writeFileSync(
    join(folder, 'tagged.md'),
    'Own: {TOOL_TAG_START} {lower} {} { "A": 1 } ${HOME} f{1}\n{AVAILABLE_TOOLS_INTERFACE}\n{TOOL_TAG_END}\n',
  );
  expect(prompt('tagged', folder)).toMatch(
    /^Own: <tool> \{lower\} \{\} \{ "A": 1 \} \$\{HOME\} f\{1\}\n### fetch\nGets a page\. \{TOOL_TAG_START\} and \$& in.*<\/tool>$/s,
  );
  expect(prompt('native', folder)).toBe(prompt('native'));
});

test('unknown variables are refused, each with its location and the known ones', () => {
  writeFileSync(join(folder, 'tagged.md'), 'one\n{TOOLS} and {TOOL_TAG}\n');
  writeFileSync(join(folder, 'native.md'), '{TOOL_TAG_START}\n');
  const message = refused();
  expect(message).toContain(
    'tagged.md, line 2: unknown variable {TOOLS}, allowed {AVAILABLE_TOOLS_INTERFACE}, {TOOL_TAG_START}, {TOOL_TAG_END}',
  );
  expect(message).toContain('unknown variable {TOOL_TAG},');
  expect(message).toContain(
    'native.md, line 1: unknown variable {TOOL_TAG_START}, allowed {AVAILABLE_TOOLS_INTERFACE}',
  );
});

test('a path that is not a folder, and an unreadable prompt, are refused', () => {
  mkdirSync(join(folder, 'native.md'));
  expect(refused()).toMatch(/the prompt of native cannot be read: .*EISDIR/);
  const none = join(folder, 'none');
  expect(() => createDialects({ promptFolder: none })).toThrow(
    /\[prompts\] folder: got .*none, allowed a folder/,
  );
});
