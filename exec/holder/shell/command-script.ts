// The text that bash sources for a command: the code itself, or the interpreter that runs it from a file.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { withoutByteOrderMark } from '../../../contracts/text/byte-order-mark';
import { quote } from '../../../contracts/text/shell-word';
import { shellAsset } from '../../../system/package-root';
import type { HostCommand } from '../../protocol';
import { hasMetadata, namesItsPackages, reportPath } from './missing-packages';

const INTERPRETERS = { python: 'python3', python_script: 'python3', nodejs: 'node' } as const;
/** The parameters of a CommonJS module. */
const PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];

type CommandCode = Pick<HostCommand, 'runtime' | 'code' | 'checkImports'>;

/** Writes the runtime's files beside `name` in `directory` with `write`, and returns the script to source. */
export function commandScript(
  directory: string,
  name: string,
  command: CommandCode,
  write: (path: string, text: string) => void,
): string {
  const { runtime } = command;
  const code = withoutByteOrderMark(command.code);
  if (runtime === 'terminal') return `${code}\n`;
  const base = join(directory, name);
  const words =
    runtime === 'nodejs'
      ? nodeWords(base, { ...command, code }, write)
      : pythonWords(base, { ...command, code }, write);
  const program = INTERPRETERS[runtime];
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

function pythonWords(
  base: string,
  { runtime, code, checkImports }: CommandCode,
  write: (path: string, text: string) => void,
): string[] {
  const file = `${base}.py`;
  write(file, code);
  const words = [file, reportPath(base)];
  const isScript = runtime === 'python_script';
  if (isScript && hasMetadata(code)) {
    const failure = new HoldfastError('dependencies_failed', {});
    return [shellAsset('prepare-script.py'), ...words, `${failure.code}: ${failure.message}`];
  }
  const isChecked = checkImports && !(isScript && namesItsPackages(code));
  return [
    shellAsset('run-python.py'),
    ...words,
    ...(isScript ? ['script'] : []),
    ...(isChecked ? ['check'] : []),
  ];
}

/** Node runs the script itself, as CommonJS where it is that. What is loaded before it holds no part of the code. */
function nodeWords(
  base: string,
  { code, checkImports }: CommandCode,
  write: (path: string, text: string) => void,
): string[] {
  const script = `${base}.${isCommonJs(code) ? 'cjs' : 'mjs'}`;
  write(script, code);
  const options = { script, reportTo: reportPath(base), ...(checkImports && { imports: checkImports }) };
  const before = `${base}.before.cjs`;
  const load = `require(${JSON.stringify(shellAsset('run-node.cjs'))})(${JSON.stringify(options)});\n`;
  writeFileSync(before, load, { mode: 0o600 });
  return ['--require', before, script];
}

/** False if it has import, export or top-level await. What is neither is an error in both. */
function isCommonJs(code: string): boolean {
  try {
    compileFunction(code.replace(/^#!.*/, ''), PARAMETERS);
    return true;
  } catch {
    return false;
  }
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
