// Colour where a person looks at a terminal, plain text elsewhere. NO_COLOR (no-color.org) is honoured.
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return stream.isTTY && !process.env.NO_COLOR ? styleText(style, text, { validateStream: false }) : text;
}

let toScreen: ((write: () => void) => void) | null = null;

/** Where a screen is drawn, what is written goes through it; null: straight to stderr again. */
export function notesThrough(screen: ((write: () => void) => void) | null): void {
  toScreen = screen;
}

/** Progress and remarks go to stderr: stdout is for results. */
export function note(text: string): void {
  const write = (): void => void process.stderr.write(`${styled('dim', text, process.stderr)}\n`);
  if (toScreen) toScreen(write);
  else write();
}
