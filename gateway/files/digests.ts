// Digest fields of HTTP (RFC 9530): `sha-256=:BASE64:`.
import { HoldfastError } from '../../contracts/errors/holdfast-error';

const SHA256 = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/;

export const digestField = (sha256: string): string =>
  `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;

/** In hexadecimal; undefined without the field. Throws `invalid_input` if it has no SHA-256. */
export function sha256Of(name: string, field: string | string[] | undefined): string | undefined {
  if (field === undefined) return undefined;
  const [, base64] = SHA256.exec(String(field)) ?? [];
  if (base64 !== undefined) return Buffer.from(base64, 'base64').toString('hex');
  throw new HoldfastError('invalid_input', {
    what: `The header ${name}`,
    got: JSON.stringify(field),
    allowed: 'sha-256=:BASE64: (RFC 9530)',
  });
}
