// Programs that run another one: after some options, their arguments are a command.
import { unquoted } from '../text';
import { parseArguments, type Arguments, type Word } from './command';

/** For each program that takes a command after its options: its options with a value. */
const PREFIXES: Record<string, string | undefined> = {
  __proto__: undefined,
  sudo: 'u g h p C r t T U D R user group host prompt chdir',
  doas: 'u C',
  command: '',
  builtin: '',
  exec: 'a',
  nohup: '',
  nice: 'n adjustment',
  ionice: 'c n p class classdata',
  time: 'f o format output',
  stdbuf: 'i o e input output error',
  setsid: '',
  unbuffer: '',
  busybox: '',
  toybox: '',
  coproc: '',
  chronic: '',
  catchsegv: '',
  eatmydata: '',
  proot: 'r b w',
  strace: 'o e p s u',
  ltrace: 'o e p s u',
  caffeinate: 't w',
  xvfb: '',
  torsocks: '',
  proxychains: 'f',
  unshare: '',
  pkexec: 'user',
  winpty: '',
  rlwrap: '',
  noglob: '',
  nocorrect: '',
};
/** The same, with this many arguments of their own before the command. */
const WITH_ARGUMENTS: Record<string, [taking: string, count: number] | undefined> = {
  __proto__: undefined,
  timeout: ['k s kill-after signal', 1],
  gtimeout: ['k s kill-after signal', 1],
  taskset: ['', 1],
  chrt: ['', 1],
  chroot: ['userspec groups', 1],
  flock: ['w E timeout', 1],
};

/** The words of the command that is run; undefined if the program is none of these. */
export function unwrap(name: string, args: Word[]): Word[] | undefined {
  const taking = PREFIXES[name];
  if (taking !== undefined) return afterAssignments(name, parseArguments(args, taking, true).rest);
  const [own, count] = WITH_ARGUMENTS[name] ?? [];
  if (own !== undefined && count !== undefined) return parseArguments(args, own, true).rest.slice(count);
  return undefined;
}

/** `sudo A=b program`. */
function afterAssignments(name: string, words: Word[]): Word[] {
  if (name !== 'sudo' && name !== 'doas') return words;
  const start = words.findIndex(({ text }) => !isAssignment(text));
  return start === -1 ? [] : words.slice(start);
}

const isAssignment = (text: string): boolean => /^[A-Za-z_]\w*=/.test(text);

/** `env`: the words of its command, none if it prints the environment, or the line that -S gives. */
export function unwrapEnv(args: Word[]): { words: Word[]; line: Word | undefined } {
  const parsed: Arguments = parseArguments(args, 'u C S unset chdir split-string', true);
  const line = [...(parsed.values.get('S') ?? []), ...(parsed.values.get('split-string') ?? [])][0];
  const start = parsed.rest.findIndex(({ text }) => !isAssignment(text));
  return { words: start === -1 ? [] : parsed.rest.slice(start), line };
}

/** The commands of `find -exec … ;`, with the start folders in place of `{}`. */
export function findCommands(args: Word[], roots: string[]): Word[][] {
  const commands: Word[][] = [];
  for (let at = 0; at < args.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[at]?.text ?? '')) continue;
    const end = args.findIndex(({ text }, index) => index > at && /^(?:;|\+)$/.test(unquoted(text)));
    const words = args.slice(at + 1, end === -1 ? undefined : end);
    for (const root of roots.length > 0 ? roots : ['\uE000'])
      commands.push(words.map((word) => filled(word, '{}', root)));
  }
  return commands;
}

/** `xargs`: its command plus its input, at the end or in the place that -I names. */
export function xargsCommand(args: Word[], stdin: string): Word[] {
  const taking = 'I i n L P s d E a replace max-args max-procs delimiter arg-file';
  const { values, rest } = parseArguments(args, taking, true);
  const inputs = stdin.split(/[\s\0]+/).filter((text) => text !== '');
  const marker = values.get('I')?.[0]?.text ?? values.get('replace')?.[0]?.text;
  const last = rest.at(-1);
  if (!last) return [];
  if (marker !== undefined) return rest.map((word) => filled(word, unquoted(marker), inputs[0] ?? '\uE000'));
  return [...rest, ...inputs.slice(0, 64).map((text) => ({ ...last, text, exact: null }))];
}

function filled(word: Word, marker: string, value: string): Word {
  if (marker === '' || !unquoted(word.text).includes(marker)) return word;
  return { ...word, text: unquoted(word.text).replaceAll(marker, () => value), exact: null };
}
