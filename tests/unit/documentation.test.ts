// What the documentation points to exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { program } from '../../cli/program';

const root = join(__dirname, '..', '..');
const pages = [
  'README.md',
  'bench/README.md',
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

test('each file that docs/architecture.md names is there', () => {
  const named = [...read('docs/architecture.md').matchAll(/`([a-z-]+(?:\/[\w.-]+)+\.\w+)`/g)].map(
    ([, name = '']) => name,
  );
  expect(named.length).toBeGreaterThan(15);
  for (const name of named) expect([name, existsSync(join(root, name))]).toEqual([name, true]);
});

test('the README has at most 900 words', () => {
  expect(read('README.md').split(/\s+/).length).toBeLessThanOrEqual(900);
});

test('each page is in the index', () => {
  const index = read('docs/README.md');
  for (const page of pages.filter((name) => /^docs\/(?!README)[^/]+$/.test(name)))
    expect([page, index.includes(`](${page.slice('docs/'.length)})`)]).toEqual([page, true]);
});

test('each command that a page names as code exists', () => {
  const known = new Set(program().commands.flatMap((one) => [one.name(), ...one.aliases()]));
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/(?:`|^)(?:npx )?holdfast ([a-z][a-z-]*)/gm)].map(
      ([, name = '']) => `${page}: ${name}`,
    ),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((one) => !known.has(one.split(': ')[1] ?? ''))).toEqual([]);
});
