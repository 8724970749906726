// The one way of text to the person: whatever is written to stdout and stderr as a fact, a name or a message is inert,
// wherever it came from. What draws, and the output of sessions, says so and goes by; it is filtered where it is read.
import { inertText } from '../contracts/inert';

/* eslint-disable no-control-regex -- control characters are the point */
/** Colours, which are ours: foreign text that may hold some is of no more harm by them. */
const COLOUR = /(\x1b\[[0-9;]*m)/;

let isGuarded = false;
let isBypassed = false;

/** Everything but line ends, tabs and colours is written out: `\u{1b}`, `\u{202e}`. */
export const harmless = (text: string): string =>
  text
    .split(COLOUR)
    .map((part, index) => (index % 2 === 1 ? part : inertText(part)))
    .join('');

/** From now on. Called once, where the command line begins. */
export function guardOutput(streams: readonly NodeJS.WriteStream[] = [process.stdout, process.stderr]): void {
  isGuarded = true;
  for (const stream of streams) {
    const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
    stream.write = (chunk: unknown, ...rest: unknown[]): boolean =>
      write(isGuarded && !isBypassed && typeof chunk === 'string' ? harmless(chunk) : chunk, ...rest);
  }
}

/** For what draws on the terminal, or speaks a protocol: it filters what is foreign by itself. */
export function letDraw(): void {
  isGuarded = false;
}

/** The output of a session or a model's answer, filtered already: other scripts and emoji stay as they are. */
export function writeFiltered(text: string, done?: (err?: Error | null) => void): void {
  isBypassed = true;
  try {
    process.stdout.write(text, done);
  } finally {
    isBypassed = false;
  }
}
