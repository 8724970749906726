// What a browser has to load before it shows anything.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const FOLDER = join(__dirname, '..', '..', '..', 'dist', 'console');
const MAX_BYTES = 250_000;

test('the code of the page without its terminal has less than 250 kB as gzip', () => {
  const assets = readdirSync(join(FOLDER, 'assets')).filter((name) => /\.(js|css)$/.test(name));
  const html = readFileSync(join(FOLDER, 'index.html'), 'utf8');
  const needed = new Set<string>();
  const take = (text: string, pattern: RegExp): void => {
    for (const [, name = ''] of text.matchAll(pattern))
      if (assets.includes(name) && !needed.has(name)) {
        needed.add(name);
        // What a module imports at once; what it loads later is written `import(...)`.
        take(readFileSync(join(FOLDER, 'assets', name), 'utf8'), /\bfrom\s*["']\.\/([^"']+)["']/g);
      }
  };
  take(html, /(?:src|href)="\/assets\/([^"]+)"/g);
  const size = (names: Iterable<string>): number =>
    [...names].reduce((sum, name) => sum + gzipSync(readFileSync(join(FOLDER, 'assets', name))).length, 0);
  // Otherwise this measures nothing.
  expect(needed.size).toBeGreaterThanOrEqual(2);
  expect(size(needed)).toBeGreaterThan(10_000);
  expect(size(needed)).toBeLessThan(MAX_BYTES);
  // The terminal is loaded when one is shown.
  const later = assets.filter((name) => !needed.has(name));
  expect(size(later)).toBeGreaterThan(50_000);
});
