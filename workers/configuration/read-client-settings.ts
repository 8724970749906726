// What the command line's own client needs of the configuration of the data folder's worker.
import { readFileSync } from 'node:fs';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { EncryptionSettings } from '../../encryption/encryption-settings';
import { readConfiguration, workersSource } from './configuration';

export interface ClientSettings {
  encryption: EncryptionSettings;
  /** Whether what it starts begins a trace, if it is not part of one. */
  startsTraces: boolean;
}

/** At the beginning of any line: a table, or a key with a table. */
const NAMES_ENCRYPTION = /^\s*\[*\s*["']?encryption\b/m;
const NONE: ClientSettings = { encryption: { keys: [] }, startsTraces: false };

/**
 * `config` as returned by `configOf`. A fault elsewhere in the file does not prevent looking at what runs; but if the
 * file mentions encryption, it is `config_invalid`: nothing may be sent in plaintext by mistake.
 */
export function readClientSettings(dataDir: string, config: string | null | undefined): ClientSettings {
  const source = workersSource(dataDir, config);
  try {
    const { encryption, telemetry } = readConfiguration(source);
    return { encryption, startsTraces: telemetry.traces };
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
