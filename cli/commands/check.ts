// `holdfast check`: checks code without running it. Needs no server.
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { text } from 'node:stream/consumers';
import { CodeChecks } from '../../checks/code-checks';
import type { CheckReport } from '../../contracts/tools/checks';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { inertLine } from '../../contracts/text/inert';
import { ownValue } from '../../contracts/own';
import type { Runtime } from '../../contracts/sessions/session';
import type { GlobalOptions } from '../global-options';
import { printJson } from '../print/print-json';
import { note, styled } from '../terminal/terminal-style';
import { RUNTIMES } from '../../contracts/sessions/session';
import { runtime } from '../arguments';
import { action, examples, type Define } from '../define-command';

interface CheckOptions extends GlobalOptions {
  runtime?: Runtime;
}

export const define: Define = (command) =>
  command
    .option(
      '--runtime <name>',
      `${RUNTIMES.join(', ')} (default: from the file’s name or first line)`,
      runtime,
    )
    .addHelpText(
      'after',
      examples(
        'holdfast check deploy.sh',
        'holdfast check --runtime python - < script        code from a pipe',
      ),
    )
    .action(action(check));

const BY_EXTENSION: Record<string, Runtime | undefined> = {
  '.sh': 'terminal',
  '.bash': 'terminal',
  '.py': 'python',
  '.js': 'nodejs',
  '.mjs': 'nodejs',
  '.cjs': 'nodejs',
};
/** `#!/bin/bash`, `#!/usr/bin/env -S node --flag`. */
const INTERPRETER = /^#! *(?:\S*\/)?(?:env +(?:-S +)?)?(?:\S*\/)?(?<name>[a-z]+)[\d.]*(?: |\r?\n|$)/;
const BY_INTERPRETER: Record<string, Runtime | undefined> = {
  sh: 'terminal',
  bash: 'terminal',
  dash: 'terminal',
  zsh: 'terminal',
  python: 'python',
  node: 'nodejs',
};

/** Exits with 0 if nothing was found, with 1 if something was. */
async function check(file: string, options: CheckOptions): Promise<number> {
  const code = file === '-' ? await text(process.stdin) : read(file);
  const runtime = options.runtime ?? runtimeOf(file, code);
  const checks = new CodeChecks();
  try {
    const report = await checks.check({ runtime, code });
    if (options.json) printJson({ file, runtime, ...report });
    else print(file, report);
    return report.verdicts.length > 0 ? 1 : 0;
  } finally {
    checks.close();
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (err) {
    const { code } = err as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new HoldfastError('not_found', {
        what: 'The file',
        got: file,
        next: 'Name a file, or - for stdin.',
      });
    if (code === 'EISDIR')
      throw new HoldfastError('invalid_input', {
        what: 'The file',
        got: `${file}, which is a folder`,
        allowed: 'a file, or - for stdin',
        next: 'Name one file in it.',
      });
    throw new HoldfastError('file_failed', { got: file, action: 'read', reason: code ?? String(err) });
  }
}

function runtimeOf(file: string, code: string): Runtime {
  const name = INTERPRETER.exec(code.slice(0, 256))?.groups?.name ?? '';
  const runtime = ownValue(BY_EXTENSION, extname(file)) ?? ownValue(BY_INTERPRETER, name);
  if (runtime) return runtime;
  throw new HoldfastError('invalid_input', {
    what: 'The language',
    got: file === '-' ? 'code without a first line such as #!/bin/bash' : file,
    allowed: `${Object.keys(BY_EXTENSION).join(', ')}, or a first line such as #!/bin/bash`,
    next: 'Name it with --runtime terminal, python or nodejs.',
  });
}

function print(file: string, { verdicts, unparsed }: CheckReport): void {
  for (const { line, column, rule, reason, found } of verdicts) {
    const place = inertLine(`${file}:${line}:${column}`);
    process.stdout.write(
      `${styled('bold', place)} ${styled('red', inertLine(rule))} ${inertLine(reason)}\n    ${inertLine(found)}\n`,
    );
  }
  if (unparsed !== null) note(`not checked: ${unparsed}`);
  if (verdicts.length === 0 && unparsed === null) note('nothing found');
}
