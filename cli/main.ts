// The command `holdfast`: guards what it writes, and runs its command line.
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { endBySignals } from '../system/processes/first-process';
import { guardOutput } from './terminal/guarded-output';
import { runCommandLine } from './program';
import { exitWith, reportError } from './print/report-error';

/** Like a program that SIGPIPE ends: the reader has read enough. A command in a session keeps running. */
const PIPE_CLOSED = 128 + 13;
process.stdout.on('error', (err: NodeJS.ErrnoException) => {
  if (err.code === 'EPIPE') process.exit(PIPE_CLOSED);
  process.exit(reportError(new HoldfastError('output_failed', { reason: err.message }), false));
});
process.stderr.on('error', () => undefined);

guardOutput();
endBySignals();
process.on('uncaughtException', (err) => exitWith(err, process.argv.includes('--json')));
void runCommandLine(process.argv).then((code) => {
  // Flush first: a pipe may still hold output.
  process.exitCode = code;
  process.stdout.write('', () => process.exit());
});
