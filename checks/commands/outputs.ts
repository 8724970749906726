// The output of ordinary commands and the files that they create, as far as later uses need them.
import { UNKNOWN, SECRET, ansiText, boundedJoin, isKnown, marksOf, unquoted, withoutMarks } from '../text';
import { byName, parseArguments, pathOf, type Command, type Word } from './command';
import type { Scope } from '../bash/scope';
import { resolvePath } from '../paths';
import { foundPaths } from './found-by-find';
import { holdsSecret, withoutExcluded } from './network-commands';

type Output = (command: Command, args: Word[]) => string;

/** The command's output. */
export const outputOf = (name: string, command: Command): string =>
  (OUTPUTS.get(name) ?? filters)(command, command.words.slice(1));

const echo: Output = (_command, args) => {
  const texts = args.map(({ text }) => unquoted(text));
  const start = texts.findIndex((text) => !/^-[neE]+$/.test(text));
  const line = start === -1 ? '' : texts.slice(start).join(' ');
  return `${/^-\w*e/.test(texts[0] ?? '') ? ansiText(line) : line}\n`;
};

const printf: Output = (_command, args) => {
  const [format = '', ...values] = args.map(({ text }) => unquoted(text)).filter((text) => text !== '--');
  return ansiText(format).replace(/%[-+ 0#]*\d*(?:\.\d+)?[sbdqcixX]/g, () => values.shift() ?? '');
};

/** Reads the named files, or its input. */
const reads: Output = (command, args) => {
  const { rest } = parseArguments(args, 'w wrap');
  const texts = rest.filter(({ text }) => text !== '-').map((word) => contentOf(word, command));
  if (texts.length === 0 || rest.some(({ text }) => text === '-')) texts.push(command.stdin);
  return boundedJoin(texts);
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

/** With these options the program decodes its input. */
const decodes =
  (encoding: 'base64' | 'hex', options: RegExp): Output =>
  (command, args) => {
    const text = reads(command, args);
    const given = args.map((word) => word.text).filter((word) => word.startsWith('-'));
    return options.test(given.join(' ')) && isKnown(text)
      ? decoded(text.replace(/\s/g, ''), encoding)
      : marksOf(text);
  };
export const decoded = (text: string, encoding: 'base64' | 'hex'): string =>
  withoutMarks(Buffer.from(text, encoding).toString());

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
  if (target && texts.length > 0) command.scope.files.set(pathOf(target.text, command), boundedJoin(texts));
  return '';
};

/** Packs files into one, which is then as secret as they are. */
const packs: Output = (command, args) => {
  const names = withoutExcluded(args).filter(({ text }) => !text.startsWith('-'));
  const folder = args[args.findIndex(({ text }) => text === '-C') + 1]?.text ?? '.';
  const isSecret = names.some(({ text }) =>
    [text, `${folder}/${text}`].some((path) => holdsSecret(path, command)),
  );
  for (const { text } of isSecret ? names : [])
    if (/\.(?:t\w+|zip|7z|gz|xz|bz2|zst)$/.test(text))
      command.scope.files.set(pathOf(text, command), SECRET + UNKNOWN);
  return marksOf(command.stdin, isSecret ? SECRET : '');
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
  foundPaths(command)
    .map((root) => `${root.replace(/^~/, '\uE001')}\n`)
    .join('') || UNKNOWN;

const OUTPUTS = byName<Output>([
  ['echo', echo],
  ['printf', printf],
  ['cat zcat', reads],
  ['base64', decodes('base64', /-(?:\w*d|-decode|D)/)],
  ['xxd', decodes('hex', /(?=.*-\w*r)(?=.*-\w*p)/)],
  ['tee', tee],
  ['cp mv', cp],
  ['tar gtar zip 7z', packs],
  ['which type', which],
  ['ls', ls],
  ['find', find],
  ['printenv set export declare', environment],
  ['true false test [ mkdir touch chmod rm sleep wait stat compgen ssh-keygen ssh-add', () => ''],
  ['pwd', ({ scope }) => `${scope.cwd ?? UNKNOWN}\n`],
]);
