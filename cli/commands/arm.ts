// `holdfast arm`: lets scripts call tools from places that only a session's terminal reaches. Needs no server; runs on
// the session's machine.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { LOCAL_HOST } from '../../contracts/ids';
import { armSession } from '../../exec/client/arm-session';
import { dataDirOf, type SessionOptions } from '../global-options';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';
import { action, examples, ofSession, type Define } from '../define-command';

interface ArmOptions extends SessionOptions {
  type?: boolean;
  off?: boolean;
}

export const define: Define = (command) =>
  ofSession(command)
    .option('--type', 'type the line into the session')
    .option('--off', 'allow no more calls')
    .addHelpText(
      'after',
      examples(
        'holdfast arm --session 1          a line to paste at the prompt there',
        'holdfast arm --session 1 --type   type it, where a shell of the other machine waits',
      ),
    )
    .action(action(arm));

/** Prints the line to paste, unless it is typed. */
async function arm(options: ArmOptions): Promise<number> {
  const { host, session, json } = options;
  if (host !== LOCAL_HOST) throw notHere(host);
  if (options.off && options.type) throw both();
  const mode = options.off ? 'off' : options.type ? 'type' : 'print';
  const line = await armSession(dataDirOf(options), options, mode);
  if (json) printJson({ session, armed: mode !== 'off', line });
  else if (line !== null) {
    process.stdout.write(`${line}\n`);
    note(
      'Paste it at the prompt of the shell there (POSIX, with python3), within ten minutes; it works once.',
    );
  } else if (options.off) note(`Tools can no longer be called through the terminal of session ${session}.`);
  else note(`Tools can be called through the terminal of session ${session} until its command ends.`);
  return 0;
}

const both = (): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The command line',
    got: '--type and --off',
    allowed: 'one of them',
  });

const notHere = (host: string): HoldfastError =>
  new HoldfastError('not_found', {
    what: 'A terminal to call tools through',
    got: `host ${host}`,
    allowed: LOCAL_HOST,
    next: `Run it on the machine of host ${host}.`,
  });
