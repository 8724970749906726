// The host's source of secrets: read for each use, never kept, never shown.
import { execFile, type ExecFileException } from 'node:child_process';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import {
  allowanceText,
  allowsSecret,
  secretNames,
  type SecretAllowance,
  type SecretAsker,
} from '../../contracts/tools/secrets';

/** Shorter values would also occur in harmless output, which masking would garble. */
const MIN_CHARS = 6;
const MAX_BYTES = 64 * 1024;
const COMMAND_MS = 15_000;

export interface SecretSources {
  /** Reads the file; throws if it may not be used. */
  file?: (() => Readonly<Record<string, string>>) | undefined;
  /** Named variables of the worker, with their values if set. */
  env: Readonly<Record<string, string | undefined>>;
  /** Prints the secret whose name replaces `{name}` in its arguments. Run without a shell, for each use. */
  command?: readonly string[] | undefined;
  /** PATH for the command. Default: this process's. */
  path?: string | undefined;
  /** Who may use which secrets; absent: everybody may use all. */
  allow?: Readonly<Record<string, SecretAllowance>> | undefined;
}

export class SecretStore {
  constructor(private readonly sources: SecretSources) {}

  /** The values for `{{secret:NAME}}` in a text. Throws `secret_not_allowed`, and like `resolve`. */
  forText(asker: SecretAsker): Promise<Record<string, string>> {
    const names = secretNames(asker.text);
    const { allow } = this.sources;
    for (const name of names) {
      const allowance = allow && Object.hasOwn(allow, name) ? allow[name] : undefined;
      if (allow && !allowsSecret(allowance, asker)) return Promise.reject(notAllowed(name, asker, allowance));
    }
    return this.resolve(names);
  }

  /** Throws `secret_unknown` and `secret_unusable`. */
  async resolve(names: readonly string[]): Promise<Record<string, string>> {
    if (names.length === 0) return {};
    const file = this.readFile(names);
    const values: Record<string, string> = {};
    for (const name of names) {
      const own = (all: Readonly<Record<string, string | undefined>>): string | undefined =>
        Object.hasOwn(all, name) ? all[name] : undefined;
      const value = own(file) ?? own(this.sources.env) ?? (await this.ask(name));
      if (value === undefined) throw this.unknown(name, file);
      values[name] = checked(name, value);
    }
    return values;
  }

  private readFile(names: readonly string[]): Readonly<Record<string, string>> {
    try {
      return this.sources.file?.() ?? {};
    } catch (err) {
      throw unusable(names.join(', '), reasonOf(err));
    }
  }

  private unknown(name: string, file: Readonly<Record<string, string>>): HoldfastError {
    const { env } = this.sources;
    const there = Object.keys(env).filter((variable) => env[variable] !== undefined);
    const allowed = [...new Set([...Object.keys(file), ...there])].sort().join(', ');
    return new HoldfastError('secret_unknown', { got: name, allowed: allowed || 'none' });
  }

  /** Undefined if there is no command. None of its output is shown. */
  private ask(name: string): Promise<string | undefined> {
    const [program, ...words] = this.sources.command ?? [];
    if (program === undefined) return Promise.resolve(undefined);
    const args = words.map((word) => word.replaceAll('{name}', name));
    return new Promise((resolve, reject) => {
      const { path = process.env.PATH } = this.sources;
      const options = {
        ...({ timeout: COMMAND_MS, killSignal: 'SIGKILL', maxBuffer: 2 * MAX_BYTES } as const),
        env: { ...process.env, ...(path !== undefined && { PATH: path }) },
      };
      const child = execFile(program, args, options, (err, stdout) => {
        if (!err) resolve(stdout.replace(/\r?\n$/, ''));
        else reject(unusable(name, `its command ${program} ${endOf(err)}`));
      });
      child.stdin?.end();
    });
  }
}

function endOf({ code, killed, signal }: ExecFileException): string {
  if (killed) return `had not ended after ${COMMAND_MS} ms, or printed too much`;
  return `ended with ${code ?? signal}`;
}

function checked(name: string, value: string): string {
  if (value.length < MIN_CHARS)
    throw unusable(
      name,
      `it has fewer than ${MIN_CHARS} characters, and masking it would spoil other output`,
    );
  if (Buffer.byteLength(value) > MAX_BYTES) throw unusable(name, `it has more than ${MAX_BYTES} bytes`);
  if (value.includes('\0')) throw unusable(name, 'it has a NUL byte, which no shell accepts');
  return value;
}

const notAllowed = (
  got: string,
  { agent, host, use }: SecretAsker,
  allowance: SecretAllowance | undefined,
): HoldfastError =>
  new HoldfastError('secret_not_allowed', {
    got,
    use: `${use} of agent ${agent} on host ${host}`,
    allowed: allowanceText(allowance),
  });

const unusable = (got: string, reason: string): HoldfastError =>
  new HoldfastError('secret_unusable', { got, reason });
