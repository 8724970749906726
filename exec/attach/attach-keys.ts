// The certificate of a listening host, and the token that clients need. Both are kept in its data folder, readable by
// this user only, and survive restarts.
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { createOnce, removeQuietly } from '../../system/json-file';
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

/** Created on first use. Throws `storage_failed`. */
export function attachToken(dataDir: string, host: string): string {
  const file = join(dataDir, `attach.${host}.token`);
  const known = readToken(file);
  if (known) return known;
  // Empty, as an earlier release left it when the disk was full: it admits nobody.
  if (known === '') removeQuietly(file);
  createOnce(file, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
  return readFileSync(file, 'utf8').trim();
}

function readToken(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
}
