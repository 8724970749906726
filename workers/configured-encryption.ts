// `[encryption]` of `holdfast.toml`: where keys are and what must be encrypted. No key is read here.
import { resolve } from 'node:path';
import {
  encryptionKeySchema,
  encryptionSchema,
  type EncryptionEntry,
} from '../contracts/schemas/encryption-configuration';
import type { EncryptionSettings, KeySource } from '../encryption/settings';

/** Paths count from `folder`. */
export function configuredEncryption(entry: EncryptionEntry, folder: string): EncryptionSettings {
  const { keys, required, allow_plaintext: allowPlaintext, allow_unbound: allowUnbound } = entry;
  return {
    keys: keys.map(({ id, file, env = '' }): KeySource =>
      file === undefined ? { id, env } : { id, file: resolve(folder, file) },
    ),
    required,
    allowPlaintext,
    allowUnbound,
  };
}

/** Keys that a table at this place may have. */
export const encryptionKeys = (path: readonly PropertyKey[]): string[] =>
  Object.keys((path.length > 1 ? encryptionKeySchema : encryptionSchema).shape);
