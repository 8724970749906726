// All text for people goes through here: whatever is written to stdout and stderr is inert, wherever it came from.
// Writes that draw, speak a protocol or were already filtered declare so one by one, and bypass it.
import { inertText } from '../../contracts/text/inert';
import { wantsColour } from './terminal-style';

/* eslint-disable no-control-regex -- control characters are the point */
/** The colours of `styled`. Foreign text cannot hide anything with them: concealing and backgrounds are removed. */
const OWN_COLOURS = /(\x1b\[(?:[0-2]|22|3[1-36]|39)m)/;

let isBypassed = false;

/** Everything but line ends and tabs is written out (`\u{1b}`, `\u{202e}`); our colours stay if wanted. */
export const harmless = (text: string, colours: boolean): string =>
  colours
    ? text
        .split(OWN_COLOURS)
        .map((part, index) => (index % 2 === 1 ? part : inertText(part)))
        .join('')
    : inertText(text);

/** Call once, at the start of the command line. */
export function guardOutput(streams: readonly NodeJS.WriteStream[] = [process.stdout, process.stderr]): void {
  for (const stream of streams) {
    const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean =>
      write(isBypassed ? chunk : harmless(textOf(chunk), wantsColour(stream)), ...rest);
  }
}

const textOf = (chunk: string | Uint8Array): string =>
  typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();

/** For what we draw ourselves and for filtered output: written as it is. */
export function draw(
  text: string | Uint8Array,
  stream: NodeJS.WriteStream = process.stdout,
  done?: (err?: Error | null) => void,
): boolean {
  return bypassing(() => stream.write(text, done));
}

/** The same stream for code that writes by itself: its text goes through `write`. */
export const writingBy = (stream: NodeJS.WriteStream, write: (text: string) => boolean): NodeJS.WriteStream =>
  new Proxy(stream, {
    get(target, key) {
      if (key === 'write') return write;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });

function bypassing<T>(work: () => T): T {
  const before = isBypassed;
  isBypassed = true;
  try {
    return work();
  } finally {
    isBypassed = before;
  }
}
