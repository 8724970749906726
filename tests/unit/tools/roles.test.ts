import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRole } from '../../../tools/agents/roles';

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-roles-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a role’s file gives its instructions, and in its front matter model, tools and limits, whatever the case of its name', async () => {
  writeFileSync(
    join(folder, 'code-reviewer.md'),
    '---\nmodel: scripted:x\ntools: [read_file]\nlimits: { steps: 3 }\n---\nYou review.\n\n---\nMore.\n',
  );
  expect(await findRole(folder, 'Code Reviewer')).toEqual({
    instructions: 'You review.\n\n---\nMore.',
    model: 'scripted:x',
    tools: ['read_file'],
    limits: { steps: 3 },
  });
});

test.each([
  ['line ends and a byte order mark of Windows', '\ufeff---\r\ntools: [read_file]\r\n---\r\nYou read.\r\n'],
  ['blanks behind its dashes', '--- \ntools: [read_file]\n---\t\nYou read.'],
])('a front matter with %s counts', async (_, text) => {
  writeFileSync(join(folder, 'reader.md'), text);
  expect(await findRole(folder, 'reader')).toEqual({ instructions: 'You read.', tools: ['read_file'] });
});

test('a front matter without an end is refused: what it allows and forbids would be lost', async () => {
  writeFileSync(join(folder, 'endless.md'), '---\ntools: [read_file]\nYou read.\n');
  await expect(findRole(folder, 'endless')).rejects.toThrow(/endless\.md.*no end/);
});

test('a file that cannot be read is refused as one that is wrong', async () => {
  mkdirSync(join(folder, 'folder.md'));
  await expect(findRole(folder, 'folder')).rejects.toMatchObject({ code: 'config_invalid' });
});

test('an empty front matter is none', async () => {
  writeFileSync(join(folder, 'empty.md'), '---\n---\nYou write.\n');
  expect(await findRole(folder, 'empty')).toEqual({ instructions: 'You write.' });
});

test('names of roles are told apart in every script', async () => {
  writeFileSync(join(folder, 'Тестировщик.md'), '---\ntools: [shell]\n---\nТы тестируешь.\n');
  expect(await findRole(folder, 'тестировщик')).toEqual({ instructions: 'Ты тестируешь.', tools: ['shell'] });
  for (const other of ['Ревьюер', '!!!']) expect(await findRole(folder, other)).not.toHaveProperty('tools');
});

test('a file without front matter is instructions and nothing else', async () => {
  writeFileSync(join(folder, 'plain.md'), 'Be plain.\n');
  expect(await findRole(folder, 'plain')).toEqual({ instructions: 'Be plain.' });
});

test.each(['Planner', '../code-reviewer', '/etc/passwd', 'code-reviewer.md'])(
  'the role %j, which has no file, is told its name',
  async (name) => {
    expect(await findRole(folder, name)).toEqual({
      instructions: `You are ${name}. Do the task that you are given, and answer with its result.`,
    });
  },
);

test('without a folder every role is a name', async () => {
  expect(await findRole(undefined, 'plain')).toMatchObject({
    instructions: expect.stringContaining('plain') as string,
  });
  expect(await findRole(join(folder, 'none'), 'plain')).not.toHaveProperty('model');
});

test.each([
  ['an unknown key', 'modle: x', /modle/],
  ['a limit that is none', 'limits: { steps: 0 }', /steps/],
  ['no YAML', 'tools: [', /./],
])('a front matter with %s is refused with the file and the fault', async (_, matter, fault) => {
  writeFileSync(join(folder, 'faulty.md'), `---\n${matter}\n---\nx\n`);
  const refused = findRole(folder, 'faulty');
  await expect(refused).rejects.toMatchObject({ code: 'config_invalid' });
  await expect(refused).rejects.toThrow(/faulty\.md/);
  await expect(refused).rejects.toThrow(fault);
});
