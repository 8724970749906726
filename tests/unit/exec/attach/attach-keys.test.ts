// The certificate of a listening host: a damaged one never keeps the host from starting.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attachCertificate, type Certificate } from '../../../../exec/attach/attach-keys';
import { fileNeeds } from '../../../helpers/run/programs';

fileNeeds('openssl');

const [KEY, CERT] = ['attach.h.key.pem', 'attach.h.cert.pem'];
let folder: string;
let warn: jest.SpyInstance;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-keys-'));
  warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
});
afterEach(() => {
  warn.mockRestore();
  rmSync(folder, { recursive: true });
});

const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text, { mode: 0o600 });

function expectPair({ key, cert, fingerprint }: Certificate): void {
  const parsed = new X509Certificate(cert);
  expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(parsed.fingerprint256).toBe(fingerprint);
  expect(readdirSync(folder).sort()).toEqual([CERT, KEY]);
  expect(statSync(join(folder, KEY)).mode & 0o777).toBe(0o600);
}

test('a certificate is kept from one start to the next', () => {
  const first = attachCertificate(folder, 'h');
  expectPair(first);
  expect(attachCertificate(folder, 'h')).toEqual(first);
  expect(warn).not.toHaveBeenCalled();
});

test.each<[string, () => void]>([
  ['an empty certificate', () => write(CERT, '')],
  ['a part of a certificate', () => write(CERT, read(CERT).slice(0, 100))],
  ['an empty key', () => write(KEY, '')],
  ['no key', () => rmSync(join(folder, KEY))],
  ['the key of another certificate', () => write(KEY, otherKey())],
])('a host that finds %s makes a new pair and says so', (_what, damage) => {
  const before = attachCertificate(folder, 'h');
  damage();
  const made = attachCertificate(folder, 'h');
  expectPair(made);
  expect(made.fingerprint).not.toBe(before.fingerprint);
  expect(warn.mock.calls).toEqual([
    [expect.stringContaining(`${join(folder, CERT)} could not be used`), expect.anything()],
  ]);
  expect(attachCertificate(folder, 'h')).toEqual(made);
  expect(warn).toHaveBeenCalledTimes(1);
});

function otherKey(): string {
  const other = mkdtempSync(join(tmpdir(), 'holdfast-keys-'));
  const { key } = attachCertificate(other, 'h');
  rmSync(other, { recursive: true });
  return key;
}
