// Turns a piece of terminal output into the text that a person would see: progress bars at their last
// state, no escape sequences. Rendered by a real terminal emulator; plain text takes a short way.
import { Terminal } from '@xterm/headless';

/** Wide enough that the emulator wraps nothing that the session's terminal did not. */
const COLUMNS = 400;
const ROWS = 24;
/** Anything but printable text, tabs and line ends: only then is the emulator needed. */
// eslint-disable-next-line no-control-regex -- control characters are the point
const NEEDS_EMULATOR = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\r*\n)/;

export async function renderText(data: Buffer): Promise<string> {
  // Bytes that are no UTF-8 become U+FFFD; a sequence cut at an edge does too.
  const text = data.toString('utf8');
  if (!NEEDS_EMULATOR.test(text)) return text.replace(/\r+\n/g, '\n');
  const rows = Math.max(ROWS, text.split('\n').length + Math.ceil(text.length / COLUMNS));
  const terminal = new Terminal({
    cols: COLUMNS,
    rows: ROWS,
    scrollback: rows,
    allowProposedApi: true,
    logLevel: 'off',
  });
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  const buffer = terminal.buffer.active;
  const lines: string[] = [];
  for (let y = 0; y < buffer.length; y++) {
    const line = buffer.getLine(y);
    const content = line?.translateToString(true) ?? '';
    if (line?.isWrapped) lines[lines.length - 1] += content;
    else lines.push(content);
  }
  terminal.dispose();
  while (lines.at(-1) === '') lines.pop();
  return lines.join('\n') + (text.endsWith('\n') && lines.length > 0 ? '\n' : '');
}
