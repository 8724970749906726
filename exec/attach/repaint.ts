// The screen that a person sees on attaching: redrawn from the last part of the log.
import { SerializeAddon } from '@xterm/addon-serialize';
import { Terminal } from '@xterm/headless';
import { useCellWidths } from '../../contracts/text/cell-widths';
import { withoutC1 } from '../../contracts/text/control-characters';
import type { TerminalSize } from '../protocol';

/** Lines above the screen that are also shown. */
const SCROLLBACK = 200;

/** No drawing sequence is nearly this long. In bytes. */
const MAX_SEQUENCE = 1_024;
/* eslint-disable no-control-regex -- control characters are the point */
/** Of what begins with ESC (ECMA-48 5.3 to 5.6): a control sequence; a string with its end; any other sequence. */
const WHOLE = /^\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_k].*?[\x07\x18\x1a]|(?![[\]PX^_k])[ -/]*[0-~])/s;
/* eslint-enable no-control-regex */

export interface Repainted {
  drawing: string;
  /** Bytes at the end of `data` that begin a sequence or a character: what follows must be drawn together with them. */
  rest: number;
}

/** Draws the screen after `data`, and sets the modes (alternate screen, cursor) that programs have requested. */
export async function repaint(data: Buffer, { cols, rows }: TerminalSize): Promise<Repainted> {
  const rest = unfinished(data);
  const terminal = new Terminal({
    cols,
    rows,
    scrollback: SCROLLBACK,
    allowProposedApi: true,
    logLevel: 'off',
  });
  useCellWidths(terminal);
  const serializer = new SerializeAddon();
  // Typed for the browser's terminal; it uses only what both have.
  terminal.loadAddon(serializer);
  const text = withoutC1(data.toString('utf8', 0, data.length - rest));
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  const drawing = serializer.serialize({ scrollback: SCROLLBACK });
  terminal.dispose();
  return { drawing, rest };
}

function unfinished(data: Buffer): number {
  const escape = data.lastIndexOf(0x1b);
  const bytes = data.length - escape;
  if (escape >= 0 && bytes <= MAX_SEQUENCE && !WHOLE.test(data.toString('latin1', escape))) return bytes;
  for (const length of [1, 2, 3]) {
    const byte = data.at(-length) ?? 0;
    // A continuation of UTF-8: what it continues is before it.
    if (byte >= 0x80 && byte < 0xc0) continue;
    const wanted = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return wanted > length ? length : 0;
  }
  return 0;
}
