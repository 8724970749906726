// The command `holdfast`: guards what it writes, and runs its command line.
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { endBySignals } from '../system/processes/first-process';
import { outputClosed } from './terminal/closed-output';
import { guardOutput } from './terminal/guarded-output';
import { runCommandLine } from './program';
import { exitWith, reportError } from './print/report-error';

const asJson = process.argv.includes('--json');
let isBroken = false;
const onBroken = (err: NodeJS.ErrnoException): void => {
  isBroken = true;
  if (err.code === 'EPIPE') outputClosed();
  else process.exit(reportError(new HoldfastError('output_failed', { reason: err.message }), asJson));
};
process.stdout.on('error', onBroken);
process.stderr.on('error', () => undefined);

guardOutput();
endBySignals();
process.on('uncaughtException', (err) => exitWith(err, asJson));
void runCommandLine(process.argv).then((code) => {
  // Flush first: a pipe may still hold output. If the last write has failed, its callback runs before the event.
  process.exitCode = code;
  process.stdout.write('', (err) => {
    if (err && !isBroken) onBroken(err);
    process.exit();
  });
});
