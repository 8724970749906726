// Methods of texts and lists that both languages have, and their results for known values.
import { HOME, UNKNOWN, bounded, isKnown, marksOf } from '../text';
import { decoded } from '../commands/outputs';
import type { Call } from './call';
import { allText, type Value } from './value';

/** Undefined if the method is unknown. */
export function methodOf({ program, method, receiver, args, node }: Call): Value | undefined {
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
    case 'concat':
    case 'joinpath':
      if (receiver.items)
        return program.list([...receiver.items, ...args.flatMap((value) => value.items ?? [value])], node);
      if (method === 'concat') return text([receiver, ...args].map((value) => value.text).join(''));
      return { ...receiver, ...text([receiver, ...args].map((value) => value.text).join('/')) };
    case 'append':
    case 'push':
      receiver.items?.push(...args);
      return marked();
    case 'extend':
      receiver.items?.push(...(first?.items ?? []));
      return marked();
    case 'split':
      if (!isKnown(receiver.text)) return marked();
      return program.list(
        pieces(receiver.text, first?.text).map((part) => ({ ...receiver, text: part, dotted: undefined })),
        node,
      );
    case 'reverse':
      return receiver.items ? program.list([...receiver.items].reverse(), node) : marked();
    case 'replace':
    case 'replaceAll':
      if (!first || !second || !isKnown(receiver.text) || !isKnown(first.text) || first.text === '')
        return marked();
      return text(receiver.text.replaceAll(first.text, () => second.text));
    case 'format':
      return text(
        filled(
          receiver.text,
          args.map((value) => value.text),
        ),
      );
    case 'toString':
      if (first?.text === 'base64' || first?.text === 'hex') return marked();
      return text(receiver.text);
    case 'fromCharCode':
      return text(
        args
          .map((value) => (/^\d+$/.test(value.text) ? String.fromCharCode(Number(value.text)) : UNKNOWN))
          .join('')
          .replace(/[\uE001-\uE1FF]/g, '?'),
      );
    case 'fromhex':
      return first && isKnown(first.text) ? text(decoded(first.text, 'hex')) : marked();
    case 'expanduser':
      return { ...receiver, text: expandHome(receiver.text), node };
    case 'decode':
    case 'encode':
    case 'strip':
    case 'trim':
    case 'resolve':
    case 'absolute':
    case 'as_posix':
    case 'valueOf':
    case 'copy':
      return { ...receiver, node };
    case 'lower':
    case 'toLowerCase':
      return text(isKnown(receiver.text) ? receiver.text.toLowerCase() : receiver.text);
    default:
      return undefined;
  }
}

export const expandHome = (text: string): string => text.replace(/^~(?=\/|$)/, HOME);

const pieces = (text: string, by: string | undefined): string[] => {
  if (by === '') return [...text].slice(0, 4_096);
  const parts = by === undefined ? text.trim().split(/\s+/) : text.split(by);
  return parts.slice(0, 4_096);
};

/** `'rm {} {}'.format(a, b)`. */
function filled(text: string, values: string[]): string {
  let next = 0;
  return text.replace(
    /\{(\d*)(?:![rsa])?(?::[^{}]*)?\}/g,
    (_all, index: string) => values[index === '' ? next++ : Number(index)] ?? UNKNOWN,
  );
}
