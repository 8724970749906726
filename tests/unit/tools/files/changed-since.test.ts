// anomalyco/opencode#31776: what a person wrote while an approval waited was gone.
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../../helpers/until';
import { toolOnHost, type ToolOnHost } from '../../../helpers/tools/tool-call';

let write: ToolOnHost;
let patch: ToolOnHost;
beforeAll(() => {
  write = toolOnHost('write_file');
  patch = toolOnHost('apply_patch');
});
afterAll(() => [write, patch].forEach((tool) => tool.remove()));

const textOf = ({ directory }: ToolOnHost, name: string): string =>
  readFileSync(join(directory, name), 'utf8');
const person = ({ directory }: ToolOnHost, name: string, text: string): void =>
  writeFileSync(join(directory, name), text);

/** The clock of files is a few milliseconds behind. */
async function askedNow(): Promise<{ askedAt: number }> {
  const askedAt = Date.now();
  await until(() => Date.now() > askedAt + 20);
  return { askedAt };
}

test('a file that was changed since its approval was asked for is not overwritten', async () => {
  person(write, 'doc.txt', 'v1\n');
  const held = await askedNow();
  person(write, 'doc.txt', 'typed by a person\n');
  const args = { file_path: 'doc.txt', content: 'by the model\n' };
  const { code, message } = await write.error(args, held);
  expect(code).toBe('approval_outdated');
  expect(message).toMatch(/doc\.txt was changed after .*Nothing was changed.*Read the file as it is now/s);
  expect(textOf(write, 'doc.txt')).toBe('typed by a person\n');
  // The next approval is asked for after the change.
  await write.value(args, await askedNow());
  expect(textOf(write, 'doc.txt')).toBe('by the model\n');
});

test.each<[string, (name: string) => void]>([
  ['created', (name) => person(write, name, 'new\n')],
  [
    'put in its place with an old date',
    (name) => {
      person(write, `${name}.other`, 'new\n');
      renameSync(join(write.directory, `${name}.other`), join(write.directory, name));
    },
  ],
  [
    'changed behind a link',
    (name) => {
      mkdirSync(join(write.directory, `${name}.d`));
      person(write, `${name}.d/real`, 'new\n');
      symlinkSync(`${name}.d/real`, join(write.directory, name));
    },
  ],
])('a file that was %s since is not overwritten', async (how, change) => {
  const name = how.replaceAll(' ', '-');
  const held = await askedNow();
  change(name);
  const { code } = await write.error({ file_path: name, content: 'by the model\n' }, held);
  expect(code).toBe('approval_outdated');
  expect(textOf(write, name)).toBe('new\n');
});

test('a call that an earlier attempt has carried out is answered', async () => {
  const held = await askedNow();
  person(write, 'again.txt', 'by the model\n');
  const args = { file_path: 'again.txt', content: 'by the model\n' };
  expect(await write.value(args, { ...held, attempt: 2 })).toEqual({ bytes: 13 });
});

test('an approved patch deletes no file that was changed since its approval was asked for, and changes no other', async () => {
  person(patch, 'old.txt', 'v1\n');
  person(patch, 'other.txt', 'a\n');
  const held = await askedNow();
  person(patch, 'old.txt', 'typed by a person\n');
  const sections = ['*** Update File: other.txt', '@@', '-a', '+b', '*** Delete File: old.txt'];
  const input = ['*** Begin Patch', ...sections, '*** End Patch'].join('\n');
  expect((await patch.error({ input }, held)).code).toBe('approval_outdated');
  expect(textOf(patch, 'old.txt')).toBe('typed by a person\n');
  expect(textOf(patch, 'other.txt')).toBe('a\n');
  await patch.value({ input }, await askedNow());
  expect(textOf(patch, 'other.txt')).toBe('b\n');
});
