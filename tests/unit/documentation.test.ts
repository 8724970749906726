// What the documentation points to exists, and what a new reader needs stays short.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { program } from '../../cli/program';

const root = join(__dirname, '..', '..');
const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'RELEASING.md', 'SECURITY.md'],
  ...['bench/README.md', 'examples/README.md', 'tests/README.md'],
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];
const read = (page: string): string => readFileSync(join(root, page), 'utf8');
const withoutCode = (text: string): string => text.replace(/^```.*?^```/gms, '');

/** As GitHub makes them of headings. */
const anchorsOf = (page: string): string[] =>
  [...withoutCode(read(page)).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

test.each(pages)('each link of %s leads to a file and a heading that are there', (page) => {
  for (const [, target = ''] of withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : join(dirname(page), path);
    expect([target, existsSync(join(root, file))]).toEqual([target, true]);
    if (anchor !== undefined)
      expect([target, anchorsOf(file)]).toEqual([target, expect.arrayContaining([anchor])]);
  }
});

const ABOUT_CODE = pages.filter((page) => /^(docs\/(architecture|decisions)|CONTRIBUTING)/.test(page));

test.each(ABOUT_CODE)('each file of the source that %s names is there', (page) => {
  // What the build makes is in dist.
  const named = [...read(page).matchAll(/`((?!dist\/)[a-z-]+(?:\/[\w.-]+)+\.[a-z]+)`/g)].map(
    ([, name = '']) => name,
  );
  if (!page.includes('decisions')) expect(named.length).toBeGreaterThan(15);
  for (const name of named) expect([name, existsSync(join(root, name))]).toEqual([name, true]);
});

test('the README has at most 800 words', () => {
  expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(800);
});

test('the CHANGELOG has a section for this version, and each of its entries is one line', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const [head = '', ...sections] = read('CHANGELOG.md').split(/^## /m);
  const titles = sections.map((section) => section.split('\n')[0] ?? '');
  expect(titles.filter((title) => title.split(' ')[0] === version)).toHaveLength(1);
  expect(head).toContain('one line each');
  const allowed = /^(|- \S.*|### \S.*|[A-Z0-9].*\.)$/;
  const others = sections
    .flatMap((section) => section.split('\n').slice(1))
    .filter((line) => !allowed.test(line));
  expect(others).toEqual([]);
});

test('each page of docs/ that the repository names is there', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
  const readable = files.filter(
    (path) =>
      /(^[^.]+|^\.ci\/\w+|\.(ts|tsx|js|mjs|cjs|py|bash|sh|md|toml|ya?ml))$/.test(path) &&
      existsSync(join(root, path)),
  );
  const named = readable.flatMap((path) =>
    [...read(path).matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([page]) => ({ path, page })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ page }) => !existsSync(join(root, page)))).toEqual([]);
});

test('decisions are numbered without a gap, and each has its number, a status and a date', () => {
  const decisions = readdirSync(join(root, 'docs', 'decisions')).sort();
  expect(decisions.length).toBeLessThanOrEqual(25);
  decisions.forEach((name, index) => {
    const number = index + 1;
    expect(name).toMatch(new RegExp(`^${String(number).padStart(4, '0')}-[a-z-]+\\.md$`));
    expect([name, read(`docs/decisions/${name}`)]).toEqual([
      name,
      expect.stringMatching(
        new RegExp(`^# ${number}\\. .+\\n\\nStatus: accepted, last changed \\d{4}-\\d\\d-\\d\\d\\.\\n\\n`),
      ),
    ]);
  });
});

test('each page is in the index', () => {
  const index = read('docs/README.md');
  for (const page of pages.filter((name) => /^docs\/(?!README)[^/]+$/.test(name)))
    expect([page, index.includes(`](${page.slice('docs/'.length)})`)]).toEqual([page, true]);
});

test('each command that a page names as code exists', async () => {
  const known = new Set((await program()).commands.flatMap((one) => [one.name(), ...one.aliases()]));
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/(?:`|^)(?:npx )?holdfast ([a-z][a-z-]*)/gm)].map(
      ([, name = '']) => `${page}: ${name}`,
    ),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((one) => !known.has(one.split(': ')[1] ?? ''))).toEqual([]);
});
