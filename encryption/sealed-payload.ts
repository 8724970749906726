// One payload sealed with AES-256-GCM: the metadata beside the ciphertext, and what is authenticated with it.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { KeyRing } from './key-ring';
import { payloadFromBytes, payloadToBytes } from './payload-bytes';

export const SEALED_ENCODING = 'binary/encrypted';
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Metadata keys; the first is Temporal's own. */
const ENCODING = 'encoding';
const KEY_ID = 'encryption-key-id';
const NAMESPACE = 'encryption-namespace';
const WORKFLOW_ID = 'encryption-workflow-id';

/** Whom a payload is for; undefined if unspecified. */
export interface Owner {
  namespace?: string | undefined;
  workflowId?: string | undefined;
}

export function seal(payload: Payload, { id, key }: { id: string; key: Buffer }, owner: Owner): Payload {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  cipher.setAAD(authenticated(id, owner));
  const sealed = [nonce, cipher.update(payloadToBytes(payload)), cipher.final(), cipher.getAuthTag()];
  const { namespace, workflowId } = owner;
  return {
    metadata: {
      [ENCODING]: Buffer.from(SEALED_ENCODING),
      [KEY_ID]: Buffer.from(id),
      ...(namespace !== undefined && { [NAMESPACE]: Buffer.from(namespace) }),
      ...(workflowId !== undefined && { [WORKFLOW_ID]: Buffer.from(workflowId) }),
    },
    data: Buffer.concat(sealed),
  };
}

export const encodingOf = (payload: Payload): string => textOf(payload, ENCODING) ?? 'none';

/** The claimed owner of a sealed payload: verified once `unseal` has succeeded. */
export const ownerOf = (payload: Payload): Owner => ({
  namespace: textOf(payload, NAMESPACE),
  workflowId: textOf(payload, WORKFLOW_ID),
});

/** Throws `payload_key_unknown` and `payload_not_authentic`. */
export function unseal(payload: Payload, keys: KeyRing): Payload {
  const id = textOf(payload, KEY_ID) ?? '';
  const key = keys.find(id);
  if (!key)
    throw new HoldfastError('payload_key_unknown', {
      got: id ? `key ${JSON.stringify(id)}` : 'no key id',
      allowed: keys.ids.join(', ') || 'none, no keys are configured',
    });
  const data = payload.data ?? new Uint8Array();
  try {
    const decipher = createDecipheriv(CIPHER, key, data.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(authenticated(id, ownerOf(payload)));
    decipher.setAuthTag(data.subarray(Math.max(NONCE_BYTES, data.length - TAG_BYTES)));
    const opened = decipher.update(data.subarray(NONCE_BYTES, data.length - TAG_BYTES));
    return payloadFromBytes(Buffer.concat([opened, decipher.final()]));
  } catch {
    // Node's errors do not distinguish a wrong key from a changed payload either.
    throw new HoldfastError('payload_not_authentic', { got: `${data.length} bytes`, key: id });
  }
}

const textOf = ({ metadata }: Payload, name: string): string | undefined => {
  const value = metadata?.[name];
  return value === undefined ? undefined : Buffer.from(value).toString('utf8');
};

/** Each part with its length, so that different parts never yield the same bytes; a missing part differs from "". */
function authenticated(keyId: string, { namespace, workflowId }: Owner): Buffer {
  const parts = ['holdfast-payload-1', keyId, namespace, workflowId].map((part) => {
    if (part === undefined) return Buffer.from([0]);
    const bytes = Buffer.from(part);
    const head = Buffer.alloc(5, 1);
    head.writeUInt32BE(bytes.length, 1);
    return Buffer.concat([head, bytes]);
  });
  return Buffer.concat(parts);
}
