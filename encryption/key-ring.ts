// Reads the keys. Faults name the place of a key, never a part of it.
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { readPrivateFile } from '../system/private-file';
import type { KeySource } from './encryption-settings';

const KEY_BYTES = 32;
const FORM = `${KEY_BYTES} bytes as base64 or hex (\`holdfast codec new-key\` makes one)`;

export class KeyRing {
  private readonly keys: ReadonlyMap<string, Buffer>;
  /** The key that encrypts; undefined if there is none. */
  readonly current: { id: string; key: Buffer } | undefined;

  private constructor(keys: [string, Buffer][]) {
    this.keys = new Map(keys);
    const [first] = keys;
    if (first) this.current = { id: first[0], key: first[1] };
  }

  /** Throws `config_invalid`, which lists every key that is unavailable. */
  static read(sources: readonly KeySource[], env: NodeJS.ProcessEnv): KeyRing {
    const faults: string[] = [];
    const keys = sources.flatMap((source): [string, Buffer][] => {
      try {
        return [
          [source.id, keyOf('file' in source ? readPrivateFile(source.file) : fromEnv(source.env, env))],
        ];
      } catch (err) {
        faults.push(`key "${source.id}": ${reasonOf(err)}`);
        return [];
      }
    });
    const ids = sources.map(({ id }) => id);
    const twice = ids.filter((id, index) => ids.indexOf(id) < index);
    for (const id of new Set(twice)) faults.push(`key "${id}" is listed more than once, allowed once`);
    if (faults.length > 0)
      throw new HoldfastError('config_invalid', { faults: `[encryption]: ${faults.join('; ')}.` });
    return new KeyRing(keys);
  }

  find(id: string): Buffer | undefined {
    return this.keys.get(id);
  }

  get ids(): string[] {
    return [...this.keys.keys()];
  }
}

function fromEnv(variable: string, env: NodeJS.ProcessEnv): string {
  const value = env[variable];
  if (value === undefined) throw new Error(`the environment has no ${variable}`);
  return value;
}

function keyOf(text: string): Buffer {
  const written = text.trim();
  const key = /^[0-9a-f]{64}$/i.test(written) ? Buffer.from(written, 'hex') : Buffer.from(written, 'base64');
  const isBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(written);
  if (!isBase64 || key.length !== KEY_BYTES)
    throw new Error(`it is a text of ${written.length} characters, allowed ${FORM}`);
  return key;
}
