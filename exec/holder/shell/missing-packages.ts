// How the runners of Python and Node are told to check imports first, and how they report what is missing: by files
// beside the command's own, which only this user can read.
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import {
  PYTHON_PACKAGES,
  packageOf,
  type CodeImport,
  type MissingPackage,
} from '../../../contracts/tools/package-names';

const MOST = 100;
const LONGEST = 214;
const MOST_BYTES = 262_144;
const MODULE = /^[\p{L}\p{N}_@][\p{L}\p{N}_@./~-]*$/u;

const requestPath = (base: string): string => `${base}.imports`;
/** In a separate folder: a sandboxed runner may not write anywhere else here. */
const answerPath = (base: string): string => join(answersFolder(dirname(base)), basename(base));
export const answersFolder = (directory: string): string => join(directory, 'answers');

/**
 * Writes the runner's request, and returns its argument.
 * @param base path of the command's script
 */
export function importsRequest(base: string, runtime: 'python' | 'nodejs', imports: CodeImport[]): string {
  const isPython = runtime === 'python';
  // The runner provides the names, the catalogue the words.
  const { code, message, exitCode } = new HoldfastError('missing_packages', {
    modules: '{modules}',
    packages: '{packages}',
    installer: isPython ? 'python3 -m pip install' : 'npm install',
  });
  const packages = isPython
    ? PYTHON_PACKAGES
    : Object.fromEntries(imports.map(({ module }) => [module, packageOf(module, runtime)]));
  const request = { answer: answerPath(base), message: `${code}: ${message}`, exitCode, packages, imports };
  writeFileSync(requestPath(base), JSON.stringify(request), { mode: 0o600 });
  return requestPath(base);
}

/** The runner's answer; undefined if it wrote none. A script can write there too, so only names are used. */
export function readMissingPackages(base: string): MissingPackage[] | undefined {
  if (!existsSync(requestPath(base))) return undefined;
  const answer = readAnswer(answerPath(base));
  const missing = Array.isArray(answer) ? answer.slice(0, MOST).filter(isMissing) : [];
  if (missing.length === 0) return undefined;
  return missing.map(({ module, package: name, line }) => ({ module, package: name, line }));
}

/** Undefined for anything that a runner does not write: a link, a pipe that would block, an endless file. */
function readAnswer(path: string): unknown {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = fstatSync(fd);
    if (!fstatSync(fd).isFile() || size > MOST_BYTES) return undefined;
    return JSON.parse(readFileSync(fd, 'utf8')) as unknown;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function isMissing(value: unknown): value is MissingPackage {
  const { module, package: name, line } = (value ?? {}) as Partial<Record<keyof MissingPackage, unknown>>;
  const isName = (text: unknown): boolean =>
    typeof text === 'string' && text.length <= LONGEST && MODULE.test(text);
  return isName(module) && isName(name) && Number.isInteger(line);
}
