// The text that bash sources for a command: the code itself, or the interpreter that runs it from a file.
import { join } from 'node:path';
import type { Runtime } from '../../../contracts/sessions/session';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { quote } from '../../../contracts/text/shell-word';
import type { CodeImport } from '../../../contracts/tools/package-names';
import { shellAsset } from '../../../system/package-root';
import { importsRequest } from './missing-packages';

const INTERPRETERS = {
  python: { program: 'python3', runner: 'run-python.py', extension: 'py' },
  python_script: { program: 'python3', runner: 'run-python.py', extension: 'py' },
  nodejs: { program: 'node', runner: 'run-node.mjs', extension: 'mjs' },
} as const;

/** The first line of script metadata (PEP 723). */
const METADATA = /^# \/\/\/ script\r?$/m;
/** The form used before PEP 723. */
const BARE_LIST = /^#\s*dependencies\s*=/;

interface CommandCode {
  runtime: Runtime;
  code: string;
  /** If present, the runner checks these imports before it runs anything. */
  checkImports?: CodeImport[] | undefined;
}

/** Writes the runtime's files beside `name` in `directory` with `write`, and returns the script to source. */
export function commandScript(
  directory: string,
  name: string,
  { runtime, code, checkImports }: CommandCode,
  write: (path: string, text: string) => void,
): string {
  if (runtime === 'terminal') return `${code}\n`;
  const { program, extension } = INTERPRETERS[runtime];
  const file = join(directory, `${name}.${extension}`);
  write(file, code);
  const words = wordsOf(runtime, code, file);
  if (checkImports && !(runtime === 'python_script' && namesItsPackages(code))) {
    const language = runtime === 'nodejs' ? 'nodejs' : 'python';
    words.push(`imports=${importsRequest(join(directory, name), language, checkImports)}`);
  }
  const missing = new HoldfastError('missing_program', { runtime, program });
  return [
    `if ! builtin command -v ${program} >/dev/null; then`,
    `  builtin printf '%s\\n' ${quote(`${missing.code}: ${missing.message}`)} >&2`,
    `  builtin return 127`,
    `fi`,
    `command ${program} ${words.map(quote).join(' ')}`,
    '',
  ].join('\n');
}

/** Whether a script declares its own packages: by its metadata, or by a comment above its first line of code. */
function namesItsPackages(code: string): boolean {
  if (METADATA.test(code)) return true;
  for (const line of code.split('\n')) {
    if (BARE_LIST.test(line)) return true;
    if (line.trim() !== '' && !line.startsWith('#')) return false;
  }
  return false;
}

/** The runner and its arguments. */
function wordsOf(runtime: Exclude<Runtime, 'terminal'>, code: string, file: string): string[] {
  const runner = shellAsset(INTERPRETERS[runtime].runner);
  if (runtime !== 'python_script') return [runner, file];
  if (!METADATA.test(code)) return [runner, file, 'script'];
  const failure = new HoldfastError('dependencies_failed', {});
  return [shellAsset('prepare-script.py'), file, `${failure.code}: ${failure.message}`];
}

/**
 * What bash sources before a command that is to begin in `folder`. If the folder cannot be entered, the shell ends with
 * the command, so that nothing runs elsewhere. In a separate file, to keep the line numbers of the code.
 */
function folderScript(folder: string, sandbox: { workspace: string } | undefined): string {
  const why = sandbox ? `: the sandbox of this host shows ${sandbox.workspace} and hides most others` : '';
  const failure = new HoldfastError('terminal_failed', {
    reason: `the working folder ${folder} cannot be entered${why}. Close the session to begin it in another`,
  });
  return [
    `if builtin cd -P -- ${quote(folder)} 2>/dev/null; then`,
    `  builtin unset OLDPWD`,
    `else`,
    `  builtin printf '%s\\n' ${quote(`${failure.code}: ${failure.message}`)} >&2`,
    `  builtin exit ${failure.exitCode} 2>/dev/null`,
    `fi`,
    '',
  ].join('\n');
}

/** What bash sources before a command; empty if nothing. `folder`: where it is to begin, empty for where the shell is. */
export function beforeCommand(
  folder: string,
  sandbox: { workspace: string } | undefined,
  traceparent: string | undefined,
): string {
  const entered = folder === '' ? '' : folderScript(folder, sandbox);
  return traceparent === undefined ? entered : `${entered}builtin export TRACEPARENT=${quote(traceparent)}\n`;
}
