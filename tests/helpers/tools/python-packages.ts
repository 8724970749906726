// What runs of Python scripts with packages need of this machine: pip that reaches its registry, and uv.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { quote } from '../../../contracts/text/shell-word';
import { defaultCacheDir } from '../../../system/data-dir';

const folders = (): string[] => (process.env.PATH ?? '').split(delimiter);
const uvOnPath = (): string | undefined =>
  folders()
    .map((folder) => join(folder, 'uv'))
    .find((file) => existsSync(file));

/** The PATH without uv. */
export const pathWithoutUv = (): string =>
  folders()
    .filter((folder) => !existsSync(join(folder, 'uv')))
    .join(delimiter);

export interface Packages {
  /** Path of uv; null if it is neither installed nor available. */
  uv: string | null;
  /** Why packages cannot be installed on this machine; null if they can. */
  missing: string | null;
}

/** Kept from one run to the next: to fetch it takes longer than all that is done with it. */
const keptUv = join(defaultCacheDir(process.env), 'uv-of-tests');

/** Checks once, before the tests are named: attempts are made in `directory`. */
export function findPackages(directory: string): Packages {
  const pip = (...args: string[]): void =>
    void execFileSync('python3', ['-m', 'pip', ...args, '--quiet', '--disable-pip-version-check'], {
      stdio: 'pipe',
      timeout: 60_000,
    });
  try {
    const kept = join(keptUv, 'bin', 'uv');
    const uv = uvOnPath() ?? (existsSync(kept) ? kept : undefined);
    if (uv) {
      pip('download', '--no-deps', '--dest', directory, 'six');
      return { uv, missing: null };
    }
    // Whole or not at all.
    pip('install', '--target', join(directory, 'uv'), 'uv');
    rmSync(keptUv, { recursive: true, force: true });
    mkdirSync(dirname(keptUv), { recursive: true });
    cpSync(join(directory, 'uv'), `${keptUv}.new`, { recursive: true });
    renameSync(`${keptUv}.new`, keptUv);
    return { uv: kept, missing: null };
  } catch (err) {
    return { uv: null, missing: `packages cannot be installed here: ${String(err).split('\n')[0]}` };
  }
}

/** Variables from which programs on this machine learn how to reach the network; sessions do not get them. */
const OF_NETWORK = /^(SSL_CERT_(FILE|DIR)|UV_.*|(HTTPS?|ALL|NO)_PROXY|(https?|all|no)_proxy)$/;

/** Puts uv into `folder`, set up as it is here. */
export function putUv(uv: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const settings = Object.entries(process.env).filter(([name]) => OF_NETWORK.test(name));
  const exports = settings.map(([name, value = '']) => `export ${name}=${quote(value)}\n`);
  writeFileSync(join(folder, 'uv'), `#!/bin/sh\n${exports.join('')}exec '${uv}' "$@"\n`, { mode: 0o755 });
}

/** A package that pip installs from a folder, without an index. */
export function writePackage(folder: string, name: string, code: string): void {
  const file = join(folder, `${name}-1.0-py3-none-any.whl`);
  const record = `${name}-1.0.dist-info`;
  const entries = {
    [`${name}.py`]: code,
    [`${record}/METADATA`]: `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
    [`${record}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    [`${record}/RECORD`]: '',
  };
  const program =
    'import json,sys,zipfile\nz=zipfile.ZipFile(sys.argv[1],"w")\n[z.writestr(k,v) for k,v in json.load(sys.stdin).items()]\nz.close()';
  execFileSync('python3', ['-c', program, file], { input: JSON.stringify(entries) });
}
