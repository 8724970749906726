import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { WITHOUT_LIMITS, type FileReach } from '../../../../contracts/workspaces/file-reach';
import { jsonBytes } from '../../../../contracts/payload-size';
import { readContext } from '../../../../activities/agents/read-context';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-context-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('pipes and devices among the context are left out, as skills too: neither is waited for', async () => {
  writeFileSync(join(folder, 'AGENTS.md'), 'Be kind.');
  mkdirSync(join(folder, 'skills', 'stuck'), { recursive: true });
  execFileSync('mkfifo', [join(folder, 'pipe'), join(folder, 'skills', 'stuck', 'SKILL.md')]);
  symlinkSync('/dev/zero', join(folder, 'zeros'));
  const text = await readContext(folder, ['pipe', 'zeros', 'skills', 'AGENTS.md'], WITHOUT_LIMITS);
  expect(text?.match(/<file path="[^"]*">/g)).toEqual(['<file path="AGENTS.md">']);
});

test('a skill says what it is for, also where its file has a byte order mark and line ends of Windows', async () => {
  mkdirSync(join(folder, 'skills', 'ship'), { recursive: true });
  const matter = '\ufeff---\r\nname: ship\r\ndescription: How to ship.\r\n---\r\nSteps.\r\n';
  writeFileSync(join(folder, 'skills', 'ship', 'SKILL.md'), matter);
  expect(await readContext(folder, ['skills'], WITHOUT_LIMITS)).toContain(
    '- skills/ship/SKILL.md: ship: How to ship.',
  );
});

test('of a file that is too large, the model sees the beginning and how much is left out', async () => {
  writeFileSync(join(folder, 'large'), 'a'.repeat(3_000_000));
  const text = await readContext(folder, ['large'], WITHOUT_LIMITS);
  expect(text?.length).toBeLessThan(70_000);
  expect(text).toContain('2000000 bytes more are not shown');
});

/** Lines of nine characters and a line end. */
const numbered = (bytes: number): string =>
  Array.from({ length: bytes / 10 }, (_line, n) => `${String(n).padStart(9, '0')}\n`).join('');
/** What the text says is left out is exactly what is missing of `whole`. */
function expectCut(text: string, whole: string): void {
  const notes = [...text.matchAll(/\n\[… (\d+) characters left out …\]\n/g)];
  expect(notes).toHaveLength(1);
  const [head = '', tail = ''] = text.split(notes[0]?.[0] ?? '');
  expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
  expect(head.length + tail.length + Number(notes[0]?.[1])).toBe(whole.length);
}
const inFile = (text: string | null): string =>
  /<file path="large">\n([^]*)\n<\/file>$/.exec(text ?? '')?.[1] ?? '';

test.each([55_000, 100_000])(
  'of a file of %i bytes, the model sees all if it has at most 64,000 as JSON, else its beginning, its end and how much is between',
  async (bytes) => {
    const whole = numbered(bytes).trim();
    writeFileSync(join(folder, 'large'), whole);
    const shown = inFile(await readContext(folder, ['large'], WITHOUT_LIMITS));
    if (bytes <= 64_000) expect(shown).toBe(whole);
    else expectCut(shown, whole);
    expect(jsonBytes(shown)).toBeLessThanOrEqual(64_000);
    expect(jsonBytes(shown)).toBeGreaterThan(50_000);
  },
);

test('of a file above 1 MB, what is left out of its first megabyte is told exactly, and what follows too', async () => {
  const whole = numbered(3_000_000);
  writeFileSync(join(folder, 'large'), whole);
  const [shown = '', rest] = inFile(await readContext(folder, ['large'], WITHOUT_LIMITS)).split(
    '\n[… 2000000 bytes more are not shown …]',
  );
  expect(rest).toBe('');
  expectCut(shown, whole.slice(0, 1_000_000));
});

test('several large files have 250,000 bytes together, with the first line of the first and the last of the last', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) writeFileSync(join(folder, name), numbered(55_000));
  const text = (await readContext(folder, names, WITHOUT_LIMITS)) ?? '';
  expect(jsonBytes(text)).toBeLessThanOrEqual(250_000);
  expect(jsonBytes(text)).toBeGreaterThan(200_000);
  expect(text).toMatch(/^These files apply to the whole conversation\.\n\n<file path="a">\n000000000\n/);
  expect(text).toMatch(/\n000005499\n<\/file>$/);
  expect(text.match(/characters left out/g)).toHaveLength(1);
});

describe('what the agent may not read is not in its context', () => {
  let outside: string;
  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), 'holdfast-outside-'));
    writeFileSync(join(outside, 'key'), 'canary');
    mkdirSync(join(outside, 'ship'));
    writeFileSync(join(outside, 'ship', 'SKILL.md'), '---\nname: ship\n---\n');
    writeFileSync(join(folder, 'OWN.md'), 'own');
  });
  afterEach(() => rmSync(outside, { recursive: true }));

  const without = (hidden: string): FileReach => ({
    ...WITHOUT_LIMITS,
    mayRead: (path) => path !== hidden && !path.startsWith(`${hidden}/`),
  });

  test('by its own path, by a way with "..", by a link to it, and as a skill', async () => {
    symlinkSync(join(outside, 'key'), join(folder, 'LINKED.md'));
    symlinkSync(outside, join(folder, 'skills'));
    const around = `../${basename(outside)}/key`;
    const paths = ['LINKED.md', 'skills', 'skills/key', join(outside, 'key'), around, 'OWN.md'];
    const text = await readContext(folder, paths, without(outside));
    expect(text).toContain('own');
    expect(text).not.toMatch(/canary|ship/);
    expect((await readContext(folder, paths, WITHOUT_LIMITS))?.match(/canary|SKILL/g)).toHaveLength(5);
  });

  test('in a hidden place of its own folder', async () => {
    mkdirSync(join(folder, 'hidden'));
    writeFileSync(join(folder, 'hidden', 'key'), 'canary');
    symlinkSync(join(folder, 'hidden', 'key'), join(folder, 'LINKED.md'));
    const reach = without(join(folder, 'hidden'));
    const text = await readContext(folder, ['LINKED.md', 'hidden/key', 'OWN.md'], reach);
    expect(text).toContain('own');
    expect(text).not.toContain('canary');
  });
});
