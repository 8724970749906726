// Programs that run code: finds the code and follows it.
import { GIVES_SHELL, RUNS_REMOTE, type Language } from '../findings';
import { UNKNOWN, isRemote, unquoted } from '../text';
import { parseArguments, pathOf, type Command, type Word } from './command';
import { isThisMachine } from './network-commands';
import { unwrapSsh } from './wrappers';

const SHELLS = /^(?:ba|z|da|k|mk|a|r)?sh$/;
const PYTHONS = /^(?:python|pypy)[\d.]*$/;
const NODES = /^(?:node|nodejs|bun)$/;
const LANGUAGES: [RegExp, Language][] = [
  [SHELLS, 'bash'],
  [PYTHONS, 'python'],
  [NODES, 'javascript'],
];
/** Their code is not followed, only checked for coming from the network. */
const OTHERS = /^(?:perl|ruby|php|lua|Rscript|deno|tclsh|pwsh|fish|osascript)[\d.]*$/;

/** Those that take an address in place of a file. */
const ADDRESS_RUNNERS = /^(?:deno|bun|uv|npx|bunx)$/;

/** Whether code passed to the program is followed. */
export const isFollowed = (name: string): boolean => LANGUAGES.some(([pattern]) => pattern.test(name));

/** Follows the code passed to the program; returns its output, or undefined if the program runs none. */
export function runInterpreter(name: string, command: Command): string | undefined {
  const args = command.words.slice(1);
  if (name === 'eval') return inSameShell(command, joined(args, command));
  if (name === 'source' || name === '.')
    return args[0] ? inSameShell(command, fileSource(args[0], command)) : UNKNOWN;
  if (name === 'trap') {
    const code = args.find(({ text }) => !text.startsWith('-'));
    return args.length > 1 && code ? nested(command, 'bash', code, true) : UNKNOWN;
  }
  const language = LANGUAGES.find(([pattern]) => pattern.test(name))?.[1];
  if (!language && !OTHERS.test(name)) return runsLine(name, command, args);
  const source = sourceOf(name, command, args);
  if (!source) return UNKNOWN;
  if (language) return nested(command, language, source);
  if (isRemote(source.text)) command.check.findings.add('remote_code', command.place, RUNS_REMOTE);
  return UNKNOWN;
}

/** `deno run https://…` fetches code and runs it. */
export function runsAddress(name: string, command: Command): boolean {
  if (!ADDRESS_RUNNERS.test(name)) return false;
  const { rest } = parseArguments(command.words.slice(1), 'c config L log-level import-map with p python');
  const [first, second] = rest.map(({ text }) => unquoted(text));
  const address = /^(?:run|serve|test|x)$/.test(first ?? '') ? second : first;
  if (!/^https?:\/\//.test(address ?? '') || isThisMachine(address ?? '')) return false;
  command.check.findings.add('remote_code', command.place, RUNS_REMOTE);
  return true;
}

/** The code from `-c`, from a script written earlier, or from stdin. Undefined if unknown. */
function sourceOf(name: string, command: Command, args: Word[]): Word | undefined {
  const isShell = SHELLS.test(name);
  const isPython = PYTHONS.test(name);
  const taking = isShell ? 'o O rcfile init-file' : isPython ? 'W X c m' : 'r require import e eval';
  const { flags, values, rest } = parseArguments(args, taking, true);
  if (isShell && flags.has('c')) return rest[0];
  if (isPython && flags.has('m')) return undefined;
  const given = [...(name === 'php' ? ['r'] : ['c', 'e']), 'eval'].flatMap(
    (option) => values.get(option) ?? [],
  )[0];
  if (given && !isShell) return given;
  const script = rest[0];
  // `node -p` is like `-e`; in other languages it is a loop.
  if (NODES.test(name) && (flags.has('p') || flags.has('print'))) return values.get('print')?.[0] ?? script;
  if (script && !flags.has('s') && script.text !== '-') return fileSource(script, command);
  if (command.isConnected && isShell) {
    command.check.findings.add('remote_code', command.place, GIVES_SHELL);
    return undefined;
  }
  return stdinOf(command);
}

const stdinOf = ({ stdin, stdinPlace, place }: Command): Word => ({
  text: stdin,
  place: stdinPlace ?? place,
});

function fileSource({ text, place }: Word, command: Command): Word {
  const path = pathOf(text, command);
  if (/^\/(?:dev\/stdin|dev\/fd\/0|proc\/self\/fd\/0)$/.test(path)) return stdinOf(command);
  return { text: command.scope.files.get(path) ?? UNKNOWN, place };
}

const inSameShell = (command: Command, code: Word): string =>
  command.check.nested({ ...command, ...code, language: 'bash' });

/** A command line that another program runs. */
export const followLater = (command: Command, line: Word): string => nested(command, 'bash', line, true);

/** In a process of its own, or later, as by `trap`: of what it changes, only files are seen here. */
function nested(command: Command, language: Language, code: Word, isLater = false): string {
  const scope = command.scope.copy();
  scope.isLater = isLater;
  return command.check.nested({ ...command, ...code, language, scope });
}

/** `eval` and others join their arguments to one line. */
function joined(words: Word[], { place }: Command): Word {
  const [only] = words;
  if (only && words.length === 1) return only;
  return { text: words.map(({ text }) => text).join(' '), place };
}

/** Programs that take a shell command line as an argument; some of them else read it from stdin. */
function runsLine(name: string, command: Command, args: Word[]): string | undefined {
  if (name === 'ssh') {
    const words = unwrapSsh(args);
    const code = words.length > 0 ? joined(words, command) : stdinOf(command);
    return nested(command, 'bash', code);
  }
  if (name === 'at' || name === 'batch') return nested(command, 'bash', stdinOf(command), true);
  // With a command, they were unwrapped.
  if (name === 'sudo' || name === 'doas')
    return args.some(({ text }) => /^-(?:\w*[is]|-login|-shell)$/.test(text))
      ? nested(command, 'bash', stdinOf(command))
      : undefined;
  if (!/^(?:su|script|runuser|flock)$/.test(name)) return undefined;
  const { flags, values } = parseArguments(args, 'c command s shell w u g');
  const line = values.get('c')?.[0] ?? values.get('command')?.[0];
  const readsInput = name === 'su' || (name === 'runuser' && !flags.has('u'));
  const code = line ?? (readsInput ? stdinOf(command) : undefined);
  return code && nested(command, 'bash', code);
}
