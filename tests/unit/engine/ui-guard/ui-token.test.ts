import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uiToken } from '../../../../engine/ui-guard/ui-token';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-ui-token-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the token is made once, and only its user can read it', () => {
  const file = join(folder, 'ui-authorization');
  const token = uiToken(file);
  expect(token).toHaveLength(32);
  expect(uiToken(file)).toBe(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['ui-authorization']);
});

test('an empty file, as a full disk leaves it, gets a token; one with something else is nobody’s to replace', () => {
  const file = join(folder, 'ui-authorization');
  writeFileSync(file, '', { mode: 0o600 });
  expect(uiToken(file)).toHaveLength(32);
  writeFileSync(file, 'mine\n');
  expect(() => uiToken(file)).toThrow(/holds no token/);
});
