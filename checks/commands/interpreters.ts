// Programs that run code: finds the code and follows it.
import type { Site } from '../check-run';
import type { Language } from '../findings';
import { UNKNOWN, isRemote, unquoted } from '../text';
import { parseArguments, pathOf, programName, type Command, type Word } from './command';

const SHELLS = /^(?:ba|z|da|k|mk|a|r)?sh$/;
const PYTHONS = /^(?:python|pypy)[\d.]*$/;
const NODES = /^(?:node|nodejs|bun)$/;
/** Their code is not followed, only checked for coming from the network. */
const OTHERS = /^(?:perl|ruby|php|lua|Rscript|deno|tclsh|pwsh|fish|osascript)[\d.]*$/;

const RUNS_REMOTE = 'it runs what the network sent';

interface Source {
  text: string;
  site: Site;
}

/** Follows the code passed to the program; returns its output, or undefined if the program runs none. */
export function runInterpreter(name: string, command: Command): string | undefined {
  const args = command.words.slice(1);
  if (name === 'eval') return nested(command, 'bash', joined(args, command));
  if (name === 'source' || name === '.')
    return args[0] ? nested(command, 'bash', fileSource(args[0], command)) : UNKNOWN;
  if (name === 'trap') {
    const code = args.find(({ text }) => !text.startsWith('-'));
    return args.length > 1 && code ? nested(command, 'bash', code) : UNKNOWN;
  }
  const language = SHELLS.test(name)
    ? 'bash'
    : PYTHONS.test(name)
      ? 'python'
      : NODES.test(name)
        ? 'javascript'
        : null;
  if (!language && !OTHERS.test(name)) return runsLine(name, command, args);
  const source = sourceOf(name, command, args);
  if (!source) return UNKNOWN;
  if (language) return nested(command, language, source);
  if (isRemote(source.text)) command.check.findings.add('remote_code', command.place, RUNS_REMOTE);
  return UNKNOWN;
}

/** The code from `-c`, from a script written earlier, or from stdin. Undefined if unknown. */
function sourceOf(name: string, command: Command, args: Word[]): Source | undefined {
  const isShell = SHELLS.test(name);
  const isPython = PYTHONS.test(name);
  const taking = isShell ? 'o O rcfile init-file' : isPython ? 'W X c m' : 'r require import e eval p print';
  const { flags, values, rest } = parseArguments(args, taking, true);
  if (isShell && flags.has('c')) return rest[0] && inPlace(rest[0], args);
  if (isPython && flags.has('m')) return undefined;
  const given = [...'c e p'.split(' '), 'eval', 'print'].flatMap((option) => values.get(option) ?? [])[0];
  if (given && !isShell) return inPlace(given, args);
  const script = rest[0];
  if (
    script &&
    !flags.has('s') &&
    !['-', '/dev/stdin', '/proc/self/fd/0', '/dev/fd/0'].includes(script.text)
  ) {
    return fileSource(script, command);
  }
  if (command.isConnected && isShell) {
    command.check.findings.add('remote_code', command.place, 'it gives the network a shell');
    return undefined;
  }
  const site = command.stdinSite ?? { place: command.place, exact: null };
  return { text: command.stdin, site };
}

/** An option's value, with its place if it is a separate word. */
const inPlace = (value: Word, args: Word[]): Source => ({
  text: value.text,
  site: args.find((word) => word.text === value.text) ?? value,
});

function fileSource(script: Word, command: Command): Source {
  const path = pathOf(script.text, command);
  if (/^\/(?:dev\/stdin|dev\/fd\/0|proc\/self\/fd\/0)$/.test(path)) {
    return { text: command.stdin, site: command.stdinSite ?? { place: command.place, exact: null } };
  }
  return { text: command.scope.files.get(path) ?? UNKNOWN, site: { place: script.place, exact: null } };
}

function nested(command: Command, language: Language, source: Source | Word): string {
  const site = 'site' in source ? source.site : source;
  const { check, placing, depth, scope, stdin } = command;
  return check.nested({
    language,
    text: source.text,
    site,
    placing,
    depth,
    scope: language === 'bash' ? scope : undefined,
    stdin,
  });
}

/** `eval` and others join their arguments to one line. */
function joined(words: Word[], { place }: Command): Word {
  const [only] = words;
  if (only && words.length === 1) return only;
  return { text: words.map(({ text }) => text).join(' '), place, exact: null };
}

/** Programs that take a shell command line as an argument. */
function runsLine(name: string, command: Command, args: Word[]): string | undefined {
  const line = lineOf(name, command, args);
  return line && nested(command, 'bash', line);
}

function lineOf(name: string, command: Command, args: Word[]): Word | undefined {
  switch (name) {
    case 'ssh': {
      const { rest } = parseArguments(args, 'i p l o F L R D J W b c e m S w E I O Q', true);
      return rest.length > 1 ? joined(rest.slice(1), command) : undefined;
    }
    case 'su':
    case 'script':
    case 'runuser':
    case 'flock': {
      const { values } = parseArguments(args, 'c command s shell w u g');
      return [...(values.get('c') ?? []), ...(values.get('command') ?? [])].map((word) =>
        inWord(word, args),
      )[0];
    }
    case 'watch': {
      const { rest } = parseArguments(args, 'n interval', true);
      return rest.length > 0 ? joined(rest, command) : undefined;
    }
    case 'at':
    case 'batch':
      return { text: command.stdin, place: command.place, exact: null };
    default:
      return undefined;
  }
}

const inWord = (value: Word, args: Word[]): Word => args.find((word) => word.text === value.text) ?? value;

/** Whether the program reads its code from stdin by default. */
export const isInterpreter = (word: Word | undefined): boolean => {
  const name = word ? programName(unquoted(word.text)) : '';
  return SHELLS.test(name) || PYTHONS.test(name) || NODES.test(name) || OTHERS.test(name);
};
