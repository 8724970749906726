// `[secrets]` of `holdfast.toml`: where the host finds the values for `{{secret:NAME}}`.
import { isAbsolute, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { SecretsEntry } from '../../contracts/schemas/configuration/secrets-configuration';
import { SECRET_NAME, type SecretAllowance } from '../../contracts/tools/secrets';
import { readPrivateFile } from '../../system/private-file';
import { SecretStore } from '../../exec/host/secret-store';

export interface SecretSettings {
  file: string | null;
  /** Usable variables of the worker. */
  env: readonly string[];
  command: readonly string[] | null;
  /** The PATH of its command, if different from the worker's. */
  path?: string | undefined;
  /** Who may use which secrets; absent: everybody may use all. */
  allow?: Readonly<Record<string, SecretAllowance>>;
}

/** Paths are relative to `folder`; a bare program is looked up on the PATH. */
export function configuredSecrets(
  { file, env, command, allow }: SecretsEntry,
  folder: string,
): SecretSettings {
  const [program = '', ...args] = command ?? [];
  const isPath = program.includes('/') && !isAbsolute(program);
  return {
    file: file === undefined ? null : resolve(folder, file),
    env,
    command: command === undefined ? null : [isPath ? resolve(folder, program) : program, ...args],
    ...(allow && { allow }),
  };
}

/** Throws `config_invalid` if the file may not be used. */
export function secretStore(
  { file, env, command, path, allow }: SecretSettings,
  from: NodeJS.ProcessEnv,
): SecretStore {
  try {
    if (file !== null) readSecrets(file);
  } catch (err) {
    throw new HoldfastError('config_invalid', { faults: `[secrets]: ${reasonOf(err)}.` });
  }
  return new SecretStore({
    ...(file !== null && { file: () => readSecrets(file) }),
    env: Object.fromEntries(env.map((name) => [name, from[name]])),
    ...(command !== null && { command }),
    path,
    ...(allow && { allow }),
  });
}

/** Throws with names and places, never with a value. */
function readSecrets(file: string): Record<string, string> {
  const text = readPrivateFile(file);
  let table: Record<string, unknown>;
  try {
    table = parse(text);
  } catch (err) {
    // The message quotes the line itself.
    const place = err instanceof TomlError ? `line ${err.line}, column ${err.column} ` : '';
    throw new Error(`${file}: ${place}is not TOML`);
  }
  for (const [name, value] of Object.entries(table)) {
    if (!SECRET_NAME.test(name))
      throw new Error(`${file}: ${JSON.stringify(name)} is not a valid name, allowed are variable names`);
    if (typeof value !== 'string') throw new Error(`${file}: "${name}" is not a text`);
  }
  return table as Record<string, string>;
}
