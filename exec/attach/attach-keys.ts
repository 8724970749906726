// The certificate of a listening host, and the token that clients need. Both are kept in its data folder, readable by
// this user only, and survive restarts.
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { systemProgram } from '../trusted-program';

/** Clients compare the fingerprint and nothing else, so the expiry date does not matter. */
const VALID_DAYS = '36500';
const TOKEN_BYTES = 32;

export interface Certificate {
  key: string;
  cert: string;
  /** SHA-256, in hexadecimal with colons. */
  fingerprint: string;
}

/** Created on first use. Throws `listen_failed` without `openssl`: Node cannot create certificates. */
export function attachCertificate(dataDir: string, host: string): Certificate {
  const keyFile = join(dataDir, `attach.${host}.key.pem`);
  const certFile = join(dataDir, `attach.${host}.cert.pem`);
  if (!existsSync(certFile)) makeCertificate(host, keyFile, certFile);
  const cert = readFileSync(certFile, 'utf8');
  return { key: readFileSync(keyFile, 'utf8'), cert, fingerprint: new X509Certificate(cert).fingerprint256 };
}

function makeCertificate(host: string, keyFile: string, certFile: string): void {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  const made = `${certFile}.tmp`;
  const request = [
    'req',
    '-new',
    '-x509',
    '-sha256',
    '-days',
    VALID_DAYS,
    '-subj',
    `/CN=holdfast host ${host}`,
  ];
  const { error, status, stderr } = spawnSync(
    systemProgram('openssl'),
    [...request, '-key', keyFile, '-out', made],
    {
      encoding: 'utf8',
    },
  );
  if (error || status !== 0) {
    rmSync(keyFile, { force: true });
    const reason = error ? 'no openssl, which makes its certificate' : `openssl: ${stderr.trim()}`;
    throw new HoldfastError('listen_failed', { host, reason });
  }
  // Atomic, even if the process dies.
  renameSync(made, certFile);
}

/** Created on first use. */
export function attachToken(dataDir: string, host: string): string {
  const file = join(dataDir, `attach.${host}.token`);
  try {
    writeFileSync(file, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'EEXIST') throw err;
  }
  return readFileSync(file, 'utf8').trim();
}
