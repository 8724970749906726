// What the runners of Python and Node report of modules that are not installed, in a file beside the command's own, and
// the words for it at the end of the command's output.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { NOT_RUN } from '../../../contracts/sessions/not-run';
import type { Runtime } from '../../../contracts/sessions/session';
import { packageOf, type MissingPackage } from '../../../contracts/tools/package-names';

const MOST = 100;
const LONGEST = 214;
const MOST_BYTES = 262_144;
const MODULE = /^[\p{L}\p{N}_@][\p{L}\p{N}_@./~-]*$/u;
/** The first line of script metadata (PEP 723). */
const METADATA = /^# \/\/\/ script\r?$/m;
/** The form used before PEP 723. */
const BARE_LIST = /^#\s*dependencies\s*=/;

/** In a separate folder: a sandboxed runner may not write anywhere else here. */
export const reportPath = (base: string): string => join(answersFolder(dirname(base)), basename(base));
export const answersFolder = (directory: string): string => join(directory, 'answers');

/** Whether the script has the metadata from which its environment is made. */
export const hasMetadata = (code: string): boolean => METADATA.test(code);

/** Whether a script declares its own packages: by its metadata, or by a comment above its first line of code. */
export function namesItsPackages(code: string): boolean {
  if (hasMetadata(code)) return true;
  for (const line of code.split('\n')) {
    if (BARE_LIST.test(line)) return true;
    if (line.trim() !== '' && !line.startsWith('#')) return false;
  }
  return false;
}

export interface MissingModules {
  missing: MissingPackage[];
  /** What the caller reads below the output: which packages are wanted, and how to get them. */
  text: string;
}

/** What the runner of one command may report. */
export class MissingReport {
  private readonly language: 'python' | 'nodejs';
  private readonly namesPackages: boolean;

  /**
   * @param base path of the command's script
   * @param isChecked whether imports are looked for before anything runs
   */
  constructor(
    private readonly base: string,
    { runtime, code }: { runtime: Runtime; code: string },
    private readonly isChecked: boolean,
  ) {
    this.language = runtime === 'nodejs' ? 'nodejs' : 'python';
    this.namesPackages = runtime === 'python_script' && namesItsPackages(code);
  }

  /** Undefined if the command did not end for want of a module. A script can write there too, so only names are used. */
  read(exitCode: number | null): MissingModules | undefined {
    if (exitCode === 0) return undefined;
    const report = readReport(reportPath(this.base));
    const hasRun = report?.hasRun !== false;
    if (hasRun === (this.isChecked && exitCode === NOT_RUN)) return undefined;
    const found = Array.isArray(report?.missing) ? report.missing.slice(0, MOST).filter(isMissing) : [];
    if (found.length === 0) return undefined;
    const missing = found.map(({ module, member, line }) => ({
      module,
      package: packageOf(member ?? module, this.language),
      line,
    }));
    return { missing, text: this.text(missing, hasRun) };
  }

  private text(missing: readonly MissingPackage[], hasRun: boolean): string {
    const modules = missing
      .map(({ module, line }) => (line > 0 ? `${module} (line ${line})` : module))
      .join(', ');
    const packages = [...new Set(missing.map((each) => each.package))].join(' ');
    const installer = this.language === 'nodejs' ? 'npm install' : 'python3 -m pip install';
    if (!hasRun) {
      const { code, message } = new HoldfastError('missing_packages', { modules, packages, installer });
      return `${code}: ${message}`;
    }
    const way = this.namesPackages
      ? `add ${packages} to the dependencies at the top of the script`
      : `install its package (${installer} ${packages})`;
    return `Not installed: ${modules}. Next: Unless it is a module of your own, ${way}, then run the script again.`;
  }
}

interface Reported {
  module: string;
  /** What is imported from it: a part of a namespace is a package of its own. */
  member?: string;
  line: number;
}

/** Undefined for anything that a runner does not write: a link, a pipe that would block, an endless file. */
function readReport(path: string): { hasRun?: unknown; missing?: unknown } | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { size } = fstatSync(fd);
    if (!fstatSync(fd).isFile() || size > MOST_BYTES) return undefined;
    return (JSON.parse(readFileSync(fd, 'utf8')) ?? undefined) as Record<string, unknown> | undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function isMissing(value: unknown): value is Reported {
  const { module, member, line } = (value ?? {}) as Partial<Record<keyof Reported, unknown>>;
  const isName = (text: unknown): boolean =>
    typeof text === 'string' && text.length <= LONGEST && MODULE.test(text);
  return (
    isName(module) && (member === undefined || isName(member)) && Number.isInteger(line) && Number(line) >= 0
  );
}
