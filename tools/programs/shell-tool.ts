// The tool `shell`: one command, to its end. Long-running programs belong in a session.
import * as z from 'zod/mini';
import { clipText } from './head-tail';
import { onHost, pathText, plainText, wholeNumber, withoutHalves } from '../files/host-files';
import { runProgram } from './run-program';
import { quote } from '../../contracts/text/shell-word';
import { hostOf, type Tool } from '../tool';

/** For scripts; a model sees less. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
const SHOWN_BYTES = 16 * 1024;
const DAY_MS = 24 * 3_600_000;

const argsSchema = z.strictObject({
  command: z
    .union([
      z.array(plainText('One argument.')).check(z.minLength(1)),
      z.string().check(
        z.refine<string>((text) => text.trim() !== '' && !text.includes('\0'), {
          error: 'must hold a command and no NUL character',
        }),
        withoutHalves,
      ),
    ])
    .check(
      z.describe(
        'A list is a program with its arguments, run without a shell; a string is run by `bash -c`.',
      ),
    ),
  workdir: z.optional(pathText('Folder to run in, from the working folder. Default: the working folder.')),
  timeout_ms: z.optional(wholeNumber(1, DAY_MS, 'Ends the command after this long. Default: no limit.')),
});

const resultSchema = z.object({
  output: z.string().check(z.describe('stdout and stderr in order; for long output only beginning and end.')),
  exit_code: z
    .int()
    .check(z.describe('128 + n when it died of signal n, 127 for a missing program, 124 for a timeout.')),
});

export const shellTool: Tool<z.infer<typeof argsSchema>, z.infer<typeof resultSchema>> = {
  name: 'shell',
  description:
    'Runs one command to its end and returns its output and exit code. Nothing can be typed into it, and no shell ' +
    'state is kept: for a persistent shell use code_execution_tool. A job that it leaves in the background ' +
    'must not write to its output.',
  args: argsSchema,
  result: resultSchema,
  // Only its author knows whether a command may run twice.
  effects: 'once',
  runsOn: 'host',
  commandLine: ({ command }) => (typeof command === 'string' ? command : command.map(quote).join(' ')),
  async run({ command, workdir = '.', timeout_ms: timeoutMs }, context) {
    const host = hostOf(context);
    const { output, exitCode } = await runProgram({
      argv: typeof command === 'string' ? ['bash', '-c', command] : command,
      cwd: onHost(host, workdir, 'Name another folder as `workdir`, by an absolute path.'),
      confine: host.confine,
      env: host.env,
      signal: context.signal,
      timeoutMs,
      maxBytes: MAX_OUTPUT_BYTES,
    });
    return { output, exit_code: exitCode };
  },
  text: ({ output, exit_code: exitCode }) =>
    `Exit code: ${exitCode}\nOutput:\n${clipText(output, SHOWN_BYTES, '; redirect its output to a file to see all of it')}`,
};
