// Colour where a person looks at a terminal, plain text elsewhere. NO_COLOR (no-color.org) is honoured.
import { styleText } from 'node:util';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

export const wantsColour = (stream: NodeJS.WriteStream): boolean =>
  Boolean(stream.isTTY) && !process.env.NO_COLOR;

export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return wantsColour(stream) ? styleText(style, text, { validateStream: false }) : text;
}

/** Indents all lines but the first: no line of foreign text looks like one of ours. */
export const continued = (text: string): string => text.replaceAll('\n', '\n  ');

/** Programs may make a terminal without a size: it says 0. */
export const columnsOf = (stream: NodeJS.WriteStream): number => stream.columns || 80;

let toScreen: ((write: () => void) => void) | null = null;

/** While a screen is drawn, remarks go through it; null: directly to stderr again. */
export function notesThrough(screen: ((write: () => void) => void) | null): void {
  toScreen = screen;
}

/** Progress and remarks go to stderr: stdout is for results. */
export function note(text: string): void {
  const write = (): void => void process.stderr.write(`${styled('dim', continued(text), process.stderr)}\n`);
  if (toScreen) toScreen(write);
  else write();
}

/** For a command with `--json`: a program reads stderr, too, and there is one JSON object or nothing. */
export const noteUnless = (json = false): ((text: string) => void) => (json ? () => undefined : note);
