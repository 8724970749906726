// The output of ordinary commands and the files that they create, as far as later uses need them.
import { UNKNOWN, SECRET, ansiText, isKnown, marksOf, unquoted } from '../text';
import { hasAny, parseArguments, pathOf, type Command, type Word } from './command';
import type { Scope } from '../bash/scope';
import { resolvePath } from '../paths';
import { foundRoots } from './destructive';
import { holdsSecret } from './network-commands';

type Output = (command: Command, args: Word[]) => string;

/** The command's output. */
export function outputOf(name: string, command: Command): string {
  const args = command.words.slice(1);
  return (OUTPUTS[name] ?? filters)(command, args);
}

const echo: Output = (_command, args) => {
  const escapes = args.some(({ text }) => /^-[neE]*e/.test(text));
  const start = args.findIndex(({ text }) => !/^-[neE]+$/.test(text));
  const line =
    start === -1
      ? ''
      : args
          .slice(start)
          .map(({ text }) => unquoted(text))
          .join(' ');
  return `${escapes ? ansiText(line) : line}\n`;
};

const printf: Output = (_command, args) => {
  const [format, ...values] = (args[0]?.text === '--' ? args.slice(1) : args).map(({ text }) =>
    unquoted(text),
  );
  if (format === undefined) return '';
  const left = [...values];
  let text = '';
  do {
    text += ansiText(format).replace(/%(?:[-+ 0#]*\d*(?:\.\d+)?([sbdqcixX])|(%))/g, (_all, kind?: string) =>
      kind === undefined ? '%' : kind === 'b' ? ansiText(left.shift() ?? '') : (left.shift() ?? ''),
    );
  } while (left.length > 0 && /%[^%]/.test(format) && text.length < 4_096);
  return text;
};

/** Reads the named files, or its input. */
const reads: Output = (command, args) => {
  const { rest } = parseArguments(args, '');
  const texts = rest.filter(({ text }) => text !== '-').map((word) => contentOf(word, command));
  if (texts.length === 0 || rest.some(({ text }) => text === '-')) texts.push(command.stdin);
  return texts.join('');
};

function contentOf({ text }: Word, command: Command): string {
  return pathOf(text, command) === '/dev/stdin' ? command.stdin : textOfFile(text, command.scope);
}

/** The content of a file, as far as the code has written it or its name implies it. */
export const textOfFile = (text: string, scope: Scope): string =>
  scope.files.get(resolvePath(text, scope.cwd)) ??
  (holdsSecret(text, { scope }) ? SECRET + UNKNOWN : UNKNOWN);

/** Transforms its input in a way that is not followed: the origin stays. */
const filters: Output = (command, args) => {
  const named = args.some((word) => !word.text.startsWith('-') && holdsSecret(word.text, command));
  const texts = args.map((word) => command.scope.files.get(pathOf(word.text, command)) ?? '');
  return marksOf(command.stdin, named ? SECRET : '', ...texts);
};

const base64: Output = (command, args) => {
  const text = reads(command, parseArguments(args, 'w wrap').rest);
  if (!hasAny(parseArguments(args, 'w wrap'), 'd D decode') || !isKnown(text)) return marksOf(text);
  return decoded(text.replace(/\s/g, ''), 'base64');
};
const xxd: Output = (command, args) => {
  const parsed = parseArguments(args, 'c l s o');
  const text = reads(command, parsed.rest);
  if (!parsed.flags.has('r') || !parsed.flags.has('p') || !isKnown(text)) return marksOf(text);
  return decoded(text.replace(/\s/g, ''), 'hex');
};
export const decoded = (text: string, encoding: 'base64' | 'hex'): string =>
  Buffer.from(text, encoding)
    .toString('utf8')
    .replace(/[\uE000-\uE1FF]/g, '?');

const rev: Output = ({ stdin }) =>
  isKnown(stdin)
    ? stdin
        .split('\n')
        .map((line) => [...line].reverse().join(''))
        .join('\n')
    : marksOf(stdin);

/** Maps letters to letters, such as rot13. */
const tr: Output = ({ stdin }, args) => {
  const [from, to] = args.map(({ text }) => letters(unquoted(text)));
  if (!isKnown(stdin) || from === undefined || to === undefined || args.some(({ text }) => /^-./.test(text)))
    return marksOf(stdin);
  return [...stdin].map((char) => to[Math.min(from.indexOf(char), to.length - 1)] ?? char).join('');
};
const letters = (set: string): string =>
  set.length > 64
    ? set
    : set.replace(/(.)-(.)/g, (_all, first: string, last: string) => {
        const [low, high] = [first.charCodeAt(0), last.charCodeAt(0)];
        return high < low || high - low > 256
          ? ''
          : Array.from({ length: high - low + 1 }, (_v, at) => String.fromCharCode(low + at)).join('');
      });

const environment: Output = (_command, args) =>
  args.every(({ text }) => text.startsWith('-')) ? SECRET + UNKNOWN : UNKNOWN;

const tee: Output = (command, args) => {
  for (const { text } of parseArguments(args, '').rest)
    command.scope.files.set(pathOf(text, command), command.stdin);
  return command.stdin;
};

const cp: Output = (command, args) => {
  const { rest } = parseArguments(args, 't S m o g');
  const target = rest.at(-1);
  const texts = rest.slice(0, -1).map((word) => contentOf(word, command));
  if (target && texts.length > 0) command.scope.files.set(pathOf(target.text, command), texts.join(''));
  return '';
};

/** Packs files into one, which is then as secret as they are. */
const tar: Output = (command, args) => {
  const words = args.map((word, at) =>
    at === 0 && /^[a-zA-Z]+$/.test(word.text) ? { ...word, text: `-${word.text}` } : word,
  );
  const { flags, values, rest } = parseArguments(words, 'f C file directory exclude T X');
  if (!flags.has('c') && !flags.has('create')) return marksOf(command.stdin);
  const folder = values.get('C')?.[0]?.text ?? values.get('directory')?.[0]?.text;
  const isPacked = rest.some(({ text }) =>
    holdsSecret(folder && !/^[/\uE001]/.test(text) ? `${folder}/${text}` : text, command),
  );
  const packed = isPacked ? SECRET + UNKNOWN : UNKNOWN;
  const target = values.get('f')?.[0] ?? values.get('file')?.[0];
  if (!target || target.text === '-') return packed;
  command.scope.files.set(pathOf(target.text, command), packed);
  return '';
};
const zip: Output = (command, args) => {
  const [target, ...rest] = parseArguments(args, 'x i P').rest;
  if (target && rest.some(({ text }) => holdsSecret(text, command)))
    command.scope.files.set(pathOf(target.text, command), SECRET + UNKNOWN);
  return '';
};

/** The path of a program, which is then run. */
const which: Output = (_command, args) => `${unquoted(args.at(-1)?.text ?? '')}\n`;

const ls: Output = (command, args) => {
  const { rest } = parseArguments(args, 'I w T');
  return (
    rest
      .map(({ text }) => `${pathOf(text, command).replace(/^~/, '\uE001').replace(/\/$/, '')}/*\n`)
      .join('') || UNKNOWN
  );
};

const find: Output = (command) =>
  foundRoots(command)
    .map((root) => `${root.replace(/^~/, '\uE001')}\n`)
    .join('') || UNKNOWN;

const nothing: Output = () => '';

const OUTPUTS: Record<string, Output | undefined> = Object.assign(Object.create(null) as object, {
  ...{
    echo,
    printf,
    base64,
    xxd,
    rev,
    tr,
    tee,
    cp,
    mv: cp,
    tar,
    zip,
    which,
    type: which,
    ls,
    find,
    '7z': zip,
    gtar: tar,
  },
  ...{ cat: reads, zcat: reads, head: filters, tail: filters, base32: base64 },
  ...{ printenv: environment, set: environment, export: environment, declare: environment, compgen: nothing },
  ...{
    true: nothing,
    false: nothing,
    test: nothing,
    '[': nothing,
    mkdir: nothing,
    touch: nothing,
    chmod: nothing,
  },
  ...{
    rm: nothing,
    cd: nothing,
    sleep: nothing,
    wait: nothing,
    stat: nothing,
    'ssh-keygen': nothing,
    'ssh-add': nothing,
  },
  pwd: ({ scope }: Command) => `${scope.cwd ?? UNKNOWN}\n`,
});
