// What the command line knows of `[encryption]`: that of the configuration which the data folder's worker has.
import { readFileSync } from 'node:fs';
import { HoldfastError } from '../contracts/errors';
import type { EncryptionSettings } from '../encryption/settings';
import { configurationSource, readConfiguration } from './configuration';
import { recordedConfig } from './recorded-choice';

/** Anywhere at the beginning of a line: a table, or a key with a table. */
const NAMES_ENCRYPTION = /^\s*\[*\s*["']?encryption\b/m;
const NONE: EncryptionSettings = { keys: [] };

/**
 * `config` as `configOf` gives it. A fault elsewhere in the file keeps nobody from looking at what runs; where the
 * file speaks of encryption it is `config_invalid`: nothing may go out in plaintext by mistake.
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
    // Nobody knows.
    return true;
  }
}
