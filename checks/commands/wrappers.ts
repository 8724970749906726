// Programs that run another one: after some options, their arguments are a command.
import { unquoted } from '../text';
import { byName, parseArguments, programName, type Word } from './command';

/** Their options with a value, and how many arguments of their own stand before the command. */
const PREFIXES = byName<[taking: string, own?: number]>([
  ['sudo', ['u g h p C r t T U D R user group host prompt chdir']],
  ['doas pkexec', ['u C user']],
  ['command builtin nohup setsid unbuffer busybox toybox coproc chronic unshare torsocks rlwrap', ['']],
  ['exec', ['a']],
  ['nice ionice', ['n c p adjustment class classdata']],
  ['time', ['f o format output']],
  ['stdbuf', ['i o e input output error']],
  ['strace ltrace', ['o e p s u']],
  [
    'setpriv',
    [
      'reuid regid groups inh-caps ambient-caps bounding-set securebits pdeathsig ruid euid rgid egid selinux-label apparmor-profile',
    ],
  ],
  [
    'systemd-run',
    ['p property u unit M machine H host E setenv uid gid nice working-directory slice description d-none'],
  ],
  ['nsenter', ['t target S setuid G setgid']],
  ['fakeroot xvfb-run dbus-run-session firejail', ['s n a e f p auto-servernum-none']],
  ['cross-env cross-env-shell', ['']],
  ['timeout gtimeout', ['k s kill-after signal', 1]],
  ['chroot taskset chrt', ['userspec groups', 1]],
  ['runuser', ['u user g group G supp-group c command s shell w']],
  ['flock', ['w E timeout', 1]],
]);

/** Programs of which a subcommand runs another program, with their options with a value. */
const RUNNERS = byName<[subcommand: RegExp, taking: string]>([
  [
    'uv rye',
    [
      /^run$/,
      'with with-editable with-requirements p python project directory extra group env-file index-url w m module C',
    ],
  ],
  ['poetry pipenv pdm hatch', [/^run$/, 'C directory P project p e env']],
  ['npm pnpm', [/^(?:exec|x|dlx)$/, 'p package w workspace C dir prefix']],
  ['yarn bun', [/^(?:exec|x|dlx)$/, 'cwd p package']],
  ['bundle', [/^exec$/, '']],
  ['conda mamba micromamba', [/^run$/, 'n name p prefix cwd']],
  ['mise direnv doppler op', [/^(?:exec|x|run)$/, 'C cd j jobs p project c config env-file']],
]);

/** The words of the command that is run; undefined if the program is none of these. */
export function unwrap(name: string, args: Word[]): Word[] | undefined {
  const runner = RUNNERS.get(name);
  if (runner) {
    const [subcommand, taking] = runner;
    const [first, ...rest] = parseArguments(args, taking, true).rest;
    if (!first || !subcommand.test(first.text)) return undefined;
    const words = parseArguments(rest, taking, true).rest;
    // The folder comes first: `direnv exec . make`.
    return afterAssignments(name === 'direnv' ? words.slice(1) : words);
  }
  // `ip netns exec NAME make`
  if (name === 'ip') return /^netns exec /.test(textOf(args)) ? afterAssignments(args.slice(3)) : undefined;
  if (name === 'watch') {
    const { flags, rest } = parseArguments(args, 'n interval q equexit', true);
    return flags.has('x') || flags.has('exec') ? rest : undefined;
  }
  const [taking, own = 0] = PREFIXES.get(name) ?? [];
  if (taking === undefined) return undefined;
  const { flags, rest } = parseArguments(args, taking, true);
  // These take a line instead: `flock FILE -c LINE`, `runuser -c LINE`.
  if (flags.has('c') && name === 'runuser') return undefined;
  const words = rest.slice(own);
  return name === 'flock' && /^-/.test(words[0]?.text ?? '') ? undefined : afterAssignments(words);
}

const textOf = (words: Word[]): string => words.map(({ text }) => text).join(' ');

/** `sudo A=b program`. */
function afterAssignments(words: Word[]): Word[] {
  const start = words.findIndex(({ text }) => !/^[A-Za-z_]\w*=/.test(text));
  return start === -1 ? [] : words.slice(start);
}

/** `env`: the words of its command, none if it prints the environment. */
export function unwrapEnv(args: Word[], levels = 4): Word[] {
  const { values, rest } = parseArguments(args, 'u C S unset chdir split-string', true);
  const [split] = values.get('S') ?? values.get('split-string') ?? [];
  if (!split || levels === 0) return afterAssignments(rest);
  // Its words take the place of the option, and may begin with options again.
  const words = unquoted(split.text).match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  const plain = words.map((text) => ({ ...split, text: text.replace(/["']/g, '') }));
  return unwrapEnv([...plain, ...rest], levels - 1);
}

/** `ssh`: the words of its command line, none if it reads code from stdin. */
export const unwrapSsh = (args: Word[]): Word[] =>
  parseArguments(args, 'i p l o F L R D J W b c e m S w E I O Q', true).rest.slice(1);

const LAUNCHERS = byName<(args: Word[]) => Word[]>([
  ['env', (args) => unwrapEnv(args)],
  ['ssh', unwrapSsh],
  ['xargs parallel', (args) => xargsCommand(args, '')],
]);

/** The last words of a command: those of the program behind `sudo`, `env`, `xargs`, `ssh` and others. */
export function innermost(words: Word[], levels = 12): Word[] {
  const [program, ...args] = words;
  if (!program || levels === 0) return words;
  const name = programName(program.text);
  const inner = unwrap(name, args) ?? LAUNCHERS.get(name)?.(args) ?? [];
  return inner.length > 0 ? innermost(inner, levels - 1) : words;
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
  return [...rest, ...inputs.slice(0, 64).map((text) => ({ ...last, text }))];
}

function filled(word: Word, marker: string, value: string): Word {
  if (marker === '' || !unquoted(word.text).includes(marker)) return word;
  return { ...word, text: unquoted(word.text).replaceAll(marker, () => value) };
}
