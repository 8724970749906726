// The key, the headers and the address of one call. They are read when used and stored nowhere.
import { readFileSync } from 'node:fs';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { PIECE } from './redact';
import type { ProviderSettings } from '../model-settings';

export interface Access {
  /** Null: the vendor's default. */
  baseUrl: string | null;
  key: string | null;
  headers: Record<string, string>;
  /** Values that must not appear in errors. */
  secrets: string[];
}

/** Throws `model_auth` if the key is missing. */
export function readAccess(model: string, settings: ProviderSettings): Access {
  const { env } = process;
  const key = readKey(model, settings.key);
  const fromVariables = Object.entries(settings.variableHeaders).flatMap(([header, variable]) => {
    const value = env[variable];
    return value ? [[header, value] as const] : [];
  });
  const headers = { ...settings.headers, ...Object.fromEntries(fromVariables) };
  const variable = settings.baseUrlVariable;
  const baseUrl = (variable ? env[variable]?.trim() : '') || settings.baseUrl;
  return {
    baseUrl,
    key,
    headers,
    secrets: [
      ...(key ? [key] : []),
      ...fromVariables.map(([, value]) => value),
      ...Object.values(settings.headers).filter(mayBeSecret),
      ...secretsOf(baseUrl),
    ],
  };
}

/** A short value is a word, such as a team's or a user's name, and would hide the same word in an error. */
const mayBeSecret = (value: string): boolean => value.length >= PIECE;

/** A password in an address; some servers take a key as the user name. */
function secretsOf(address: string | null): string[] {
  if (address === null || !URL.canParse(address)) return [];
  const { username, password } = new URL(address);
  return [...(mayBeSecret(username) ? [username] : []), ...(password ? [password] : [])];
}

function readKey(model: string, source: ProviderSettings['key']): string | null {
  if (source === null) return null;
  if ('variable' in source) {
    const { variable } = source;
    const key = process.env[variable]?.trim();
    if (key) return key;
    throw noKey(
      model,
      `the variable ${variable} is not set`,
      `Set ${variable} in the environment in which the worker is started. If a worker is already running, ` +
        'end it with `holdfast down` first.',
    );
  }
  const { file } = source;
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (err) {
    throw noKey(model, reasonOf(err), `Write the key to ${file}, or name another key_file.`);
  }
  if (content) return content;
  throw noKey(model, `the file ${file} is empty`, `Write the key to ${file}.`);
}

const noKey = (model: string, reason: string, next: string): HoldfastError =>
  new HoldfastError('model_auth', { model, got: 'no key', reason: `${reason}.`, next });
