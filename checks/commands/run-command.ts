// Follows one command: what it destroys, what it sends, which code it runs, and its output.
import { UNKNOWN, isRemote, isSecret, REMOTE, unquoted } from '../text';
import { programName, pathOf, type Command, type Word } from './command';
import { foundRoots, judgeDestructive } from './destructive';
import { isInterpreter, runInterpreter } from './interpreters';
import { judgeNetwork } from './network-commands';
import { outputOf } from './outputs';
import { findCommands, unwrap, unwrapEnv, xargsCommand } from './wrappers';

/** Levels of wrappers around wrappers. */
const MAX_WRAPPERS = 12;

/** Adds findings; returns the command's output. */
export function runCommand(command: Command, wrapped = 0): string {
  command.check.spend();
  const [program, ...args] = command.words;
  if (!program || wrapped > MAX_WRAPPERS) return '';
  if (program.text.startsWith(REMOTE)) {
    command.check.findings.add('remote_code', command.place, 'it runs what the network sent');
    return UNKNOWN;
  }
  const name = programName(program.text);
  const inner = (words: Word[], changes: Partial<Command> = {}): string =>
    runCommand({ ...command, ...changes, words }, wrapped + 1);

  const behind = unwrap(name, args);
  if (behind && behind.length > 0) return inner(behind);
  switch (name) {
    case 'env': {
      const { words, line } = unwrapEnv(args);
      if (line) return inner([{ ...program, text: 'eval', exact: null }, line]);
      if (words.length > 0) return inner(words);
      return outputOf('printenv', { ...command, words: [program] });
    }
    case 'xargs':
    case 'parallel':
      // Its command has no input of its own.
      return inner(xargsCommand(args, command.stdin), { stdin: UNKNOWN });
    case 'find':
      for (const words of findCommands(args, foundRoots(command))) inner(words);
      break;
    default:
  }
  judgeDownloaded(command, program);
  const output = runInterpreter(name, command);
  if (output !== undefined && name !== 'ssh') return output;
  judgeDestructive(command);
  return judgeNetwork(name, command) ?? outputOf(name, command);
}

/** `./install.sh` after it was downloaded. */
function judgeDownloaded(command: Command, program: Word): void {
  if (!unquoted(program.text).includes('/')) return;
  const text = command.scope.files.get(pathOf(program.text, command));
  if (text === undefined) return;
  if (isRemote(text))
    command.check.findings.add('remote_code', command.place, 'it runs what the network sent');
  else if (!isSecret(text)) runScript(command, program, text);
}

/** A script that the code wrote earlier: run by the interpreter in its first line. */
function runScript(command: Command, program: Word, text: string): void {
  const first = /^#! *(?:\/\S*\/)?(?:env +)?(?<name>[\w.]+)/.exec(unquoted(text))?.groups?.name ?? 'sh';
  const interpreter = { ...program, text: first, exact: null };
  if (isInterpreter(interpreter)) runInterpreter(first, { ...command, words: [interpreter, program] });
}
