// Shape of `[encryption]` in `holdfast.toml`. It says where the keys are and holds none.
import { WORKFLOW_KINDS } from '../../ids';
import { z } from '../zod';

const text = z.string().check(z.minLength(1));
const kinds = z.array(
  z.enum(WORKFLOW_KINDS, { error: `must be of ${WORKFLOW_KINDS.map((kind) => `"${kind}"`).join(', ')}` }),
);

/** Stored in plain text with every payload. */
const keyId = z
  .string()
  .check(z.regex(/^[a-zA-Z0-9._-]{1,64}$/, { error: 'must be 1 to 64 of a-z, A-Z, 0-9, ".", "_" and "-"' }));

export const encryptionKeySchema = z
  .strictObject({ id: keyId, file: z.optional(text), env: z.optional(text) })
  .check(
    z.refine(({ file, env }) => (file === undefined) !== (env === undefined), {
      error: 'has both or neither, allowed one of "file" and "env"',
    }),
  );

export const encryptionSchema = z
  .strictObject({
    keys: z._default(z.array(encryptionKeySchema), []),
    required: z._default(z.boolean(), false),
    allow_plaintext: z._default(kinds, []),
    allow_unbound: z._default(kinds, []),
  })
  .check(
    z.refine(({ keys, required }) => !required || keys.length > 0, {
      error: 'has required = true without a key, allowed with "keys"',
    }),
  );

export type EncryptionEntry = z.infer<typeof encryptionSchema>;
