// Methods of texts and lists that both languages have, and their results for known values.
import { isTemplateFile } from '../paths';
import { HOME, UNKNOWN, bounded, isKnown, marksOf } from '../text';
import { allText, list, type Call, type Value } from './value';

/** Calls that only mention, search or replace texts. */
const SPEAKS =
  /(?:^|\.)(?:print|log|error|warn|warning|info|debug|exception|write|replace|replaceAll|sub|split|startswith|endswith|startsWith|endsWith|includes|indexOf|index|find|match|matchAll|test|search|count|strip|format_help|add_argument|ArgumentParser|exit|\w*Error|Exception)$/;

/** Whether a call uses none of its texts, or puts them into a file for people to fill in. */
export function onlyMentions(
  dotted: string | undefined,
  method: string,
  { receiver, first }: { receiver: Value | undefined; first: () => Value },
): boolean {
  if (SPEAKS.test(dotted ?? '') || SPEAKS.test(method)) return true;
  if (/^write_(?:text|bytes)$/.test(method)) return isTemplateFile(receiver?.text ?? '');
  return /^(?:write|append)File(?:Sync)?$/.test(method) && isTemplateFile(first().text);
}

/** The most pieces of one text. */
const MOST_PIECES = 4_096;

/** Undefined if the method is unknown. */
export function methodOf({ method, receiver, args, node }: Call): Value | undefined {
  if (!receiver) return undefined;
  const text = (value: string): Value => ({ text: bounded(value), node });
  const [first, second] = args;
  const marked = (): Value => text(marksOf(allText(receiver), ...args.map((value) => allText(value))));
  switch (method) {
    case 'join':
      // In Python the receiver is the separator, in JavaScript the argument.
      if (first?.items) return text(first.items.map((item) => item.text).join(receiver.text));
      if (receiver.items) return text(receiver.items.map((item) => item.text).join(first?.text ?? ','));
      return marked();
    case 'joinpath':
      return { ...receiver, ...text([receiver, ...args].map((value) => value.text).join('/')) };
    case 'append':
    case 'push':
    case 'extend':
      receiver.items?.push(...(method === 'extend' ? (first?.items ?? []) : args));
      return marked();
    case 'split':
      return isKnown(receiver.text) ? list(pieces(receiver, first?.text), node) : marked();
    case 'reverse':
      return receiver.items ? list([...receiver.items].reverse(), node) : marked();
    case 'replace':
    case 'replaceAll':
      if (!first || !second || !isKnown(receiver.text) || !isKnown(first.text) || first.text === '')
        return marked();
      return text(receiver.text.replaceAll(first.text, () => second.text));
    case 'format':
      return text(filled(receiver.text, args));
    case 'toString':
      if (first?.text === 'base64' || first?.text === 'hex') return marked();
      return text(receiver.text);
    case 'expanduser':
      return { ...receiver, text: expandHome(receiver.text), node };
    case 'decode':
    case 'encode':
    case 'strip':
    case 'trim':
    case 'resolve':
    case 'absolute':
    case 'as_posix':
    case 'copy':
      return { ...receiver, node };
    default:
      return undefined;
  }
}

export const expandHome = (text: string): string => text.replace(/^~(?=\/|$)|\$HOME\b|\$\{HOME\}/g, HOME);

const pieces = ({ text, node }: Value, by: string | undefined): Value[] =>
  (by === '' ? [...text] : by === undefined ? text.trim().split(/\s+/) : text.split(by))
    .slice(0, MOST_PIECES)
    .map((part) => ({ text: part, node }));

/** `'rm {} {}'.format(a, b)`. */
function filled(text: string, values: Value[]): string {
  let next = 0;
  return text.replace(
    /\{(\d*)(?:![rsa])?(?::[^{}]*)?\}/g,
    (_all, index: string) => values[index === '' ? next++ : Number(index)]?.text ?? UNKNOWN,
  );
}
