// Follows one command: what it destroys, what it sends, which code it runs, and its output.
import { UNKNOWN, isRemote, isSecret, REMOTE, unquoted } from '../text';
import { programName, pathOf, type Command, type Word } from './command';
import { RUNS_REMOTE } from '../findings';
import { commandLines, lineOfVariable } from './command-lines';
import { judgeDestructive } from './destructive';
import { foundPaths } from './found-by-find';
import { followLater, runInterpreter, runsAddress } from './interpreters';
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
    command.check.findings.add('remote_code', command.place, RUNS_REMOTE);
    return UNKNOWN;
  }
  const name = programName(program.text);
  const inner = (words: Word[], changes: Partial<Command> = {}): string =>
    runCommand({ ...command, ...changes, words }, wrapped + 1);

  if (name === 'command' && /^-p?[vV]/.test(args[0]?.text ?? '')) return outputOf('which', command);
  for (const line of commandLines(name, args)) followLater(command, line);
  if (/^(?:env|sudo|doas|cross-env)$/.test(name)) followVariables(command, args);
  if (runsAddress(name, command)) return UNKNOWN;
  const behind = unwrap(name, args);
  if (behind && behind.length > 0) return inner(behind);
  switch (name) {
    case 'env': {
      const behindEnv = unwrapEnv(args);
      return behindEnv.length > 0 ? inner(behindEnv) : outputOf('printenv', { ...command, words: [program] });
    }
    case 'xargs':
    case 'parallel':
      // Its command has no input of its own.
      return inner(xargsCommand(args, command.stdin), { stdin: UNKNOWN });
    case 'find':
      for (const words of findCommands(args, foundPaths(command))) inner(words);
      break;
    default:
  }
  if (unquoted(program.text).includes('/')) runFile(command, program);
  const output = runInterpreter(name, command);
  if (output !== undefined && name !== 'ssh') return output;
  judgeDestructive(command);
  return judgeNetwork(name, command) ?? outputOf(name, command);
}

/** `env GIT_SSH_COMMAND=… git fetch`. */
function followVariables(command: Command, args: Word[]): void {
  for (const word of args) {
    const [, variable = '', value = ''] = /^([A-Za-z_]\w*)=([^]*)$/.exec(word.text) ?? [];
    const text = lineOfVariable(variable, value);
    if (text !== undefined) followLater(command, { ...word, text });
  }
}

/** `./install.sh` after it was downloaded or written: run by the interpreter in its first line. */
function runFile(command: Command, program: Word): void {
  const text = command.scope.files.get(pathOf(program.text, command)) ?? '';
  if (isRemote(text)) command.check.findings.add('remote_code', command.place, RUNS_REMOTE);
  const first = /^#! *(?:\/\S*\/)?(?:env +)?(?<name>[\w.]+)/.exec(unquoted(text))?.groups?.name ?? 'sh';
  if (text !== '' && !isRemote(text) && !isSecret(text))
    runInterpreter(first, { ...command, words: [{ ...program, text: first }, program] });
}
