// The command line's view of `[encryption]`: from the configuration of the data folder's worker.
import { readFileSync } from 'node:fs';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { EncryptionSettings } from '../../encryption/encryption-settings';
import { configurationSource, readConfiguration } from './configuration';
import { recordedConfig } from './recorded-choice';

/** At the beginning of any line: a table, or a key with a table. */
const NAMES_ENCRYPTION = /^\s*\[*\s*["']?encryption\b/m;
const NONE: EncryptionSettings = { keys: [] };

/**
 * `config` as returned by `configOf`. A fault elsewhere in the file does not prevent looking at what runs; but if the
 * file mentions encryption, it is `config_invalid`: nothing may be sent in plaintext by mistake.
 */
export function readEncryption(dataDir: string, config: string | null | undefined): EncryptionSettings {
  const named = config === undefined ? recordedConfig(dataDir) : config;
  const source = configurationSource({ dataDir, config: named ?? undefined });
  try {
    return readConfiguration(source).encryption;
  } catch (err) {
    if (!(err instanceof HoldfastError) || speaksOfEncryption(source.file)) throw err;
    return NONE;
  }
}

function speaksOfEncryption(file: string): boolean {
  try {
    return NAMES_ENCRYPTION.test(readFileSync(file, 'utf8'));
  } catch {
    // Unreadable: assume that it does.
    return true;
  }
}
