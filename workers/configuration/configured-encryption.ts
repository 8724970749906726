// `[encryption]` of `holdfast.toml`: where the keys are and what must be encrypted. Reads no key.
import { resolve } from 'node:path';
import {
  encryptionKeySchema,
  encryptionSchema,
  type EncryptionEntry,
} from '../../contracts/schemas/configuration/encryption-configuration';
import type { EncryptionSettings, KeySource } from '../../encryption/encryption-settings';

/** Paths are relative to `folder`. */
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

/** Keys allowed in the table at this place. */
export const encryptionKeys = (path: readonly PropertyKey[]): string[] =>
  Object.keys((path.length > 1 ? encryptionKeySchema : encryptionSchema).shape);
