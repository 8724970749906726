// The command `holdfast`: guards what it writes, and runs its command line.
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { endBySignals } from '../system/processes/first-process';
import { outputClosed } from './terminal/closed-output';
import { guardOutput } from './terminal/guarded-output';
import { runCommandLine } from './program';
import { exitWith, reportError } from './print/report-error';

process.stdout.on('error', (err: NodeJS.ErrnoException) => {
  if (err.code === 'EPIPE') outputClosed();
  else process.exit(reportError(new HoldfastError('output_failed', { reason: err.message }), false));
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
