// The certificate of a listening host, and the token that clients need. Both are kept in its data folder, readable by
// this user only, and survive restarts.
import { spawnSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
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

interface PairFiles {
  keyFile: string;
  certFile: string;
}

/**
 * Created on first use. Throws `listen_failed` without `openssl`, as Node cannot create certificates, and
 * `storage_failed`.
 */
export function attachCertificate(dataDir: string, host: string): Certificate {
  const keyFile = join(dataDir, `attach.${host}.key.pem`);
  const certFile = join(dataDir, `attach.${host}.cert.pem`);
  return readPair({ keyFile, certFile }) ?? makePair(host, { keyFile, certFile });
}

/** Undefined if they are missing, or no pair. */
function readPair({ keyFile, certFile }: PairFiles): Certificate | undefined {
  const [key, cert] = [keyFile, certFile].map(readIfThere);
  if (!key || !cert) return undefined;
  try {
    const parsed = new X509Certificate(cert);
    const isPair = parsed.checkPrivateKey(createPrivateKey(key));
    return isPair ? { key, cert, fingerprint: parsed.fingerprint256 } : undefined;
  } catch {
    return undefined;
  }
}

function makePair(host: string, { keyFile, certFile }: PairFiles): Certificate {
  const isReplaced = existsSync(certFile);
  // The certificate first: a key alone is never used.
  for (const file of [certFile, keyFile]) removeQuietly(file);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  createOnce(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  createOnce(certFile, certificateOf(host, keyFile));
  const made = readPair({ keyFile, certFile });
  if (!made) throw new HoldfastError('listen_failed', { host, reason: `${certFile} cannot be used` });
  if (isReplaced) {
    const warning = `${certFile} could not be used; the host has a new certificate, with another fingerprint`;
    process.emitWarning(warning, { code: 'HOLDFAST_NEW_CERTIFICATE' });
  }
  return made;
}

function certificateOf(host: string, keyFile: string): string {
  const request = ['req', '-new', '-x509', '-sha256', '-days', VALID_DAYS];
  // It prints the certificate: writing it to a full disk itself, it would report success.
  const { error, status, stdout, stderr } = spawnSync(
    systemProgram('openssl'),
    [...request, '-subj', `/CN=holdfast host ${host}`, '-key', keyFile],
    { encoding: 'utf8' },
  );
  if (!error && status === 0) return stdout;
  removeQuietly(keyFile);
  const reason = error ? 'no openssl, which makes its certificate' : `openssl: ${stderr.trim()}`;
  throw new HoldfastError('listen_failed', { host, reason });
}

/** Created on first use. Throws `storage_failed`. */
export function attachToken(dataDir: string, host: string): string {
  const file = join(dataDir, `attach.${host}.token`);
  const known = readIfThere(file);
  if (known) return known;
  // An empty one admits no one.
  if (known === '') removeQuietly(file);
  createOnce(file, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
  return readFileSync(file, 'utf8').trim();
}

const readIfThere = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
