import { createHash } from 'node:crypto';
import { sha256 } from '../../../../contracts/sha256';

test.each([
  ['nothing', ''],
  ['one block less a byte', 'a'.repeat(55)],
  ['a length that takes a block of its own', 'a'.repeat(56)],
  ['whole blocks', 'a'.repeat(128)],
  ['text beyond ASCII', 'ünï \u2028 \u{1f600}'],
  ['half a surrogate pair', 'a\ud800b'],
  ['as much as a command may hold', 'line of code\n'.repeat(20_000)],
])('the hash of %s is that of node:crypto', (_what, text) => {
  expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
});
