// The screen that a person sees on attaching: redrawn from the last part of the log.
import { SerializeAddon } from '@xterm/addon-serialize';
import { Terminal } from '@xterm/headless';
import type { TerminalSize } from '../protocol';

/** Lines above the screen that are also shown. */
const SCROLLBACK = 200;

/** Draws the screen after `data`, and sets the modes (alternate screen, cursor) that programs have requested. */
export async function repaint(data: Buffer, { cols, rows }: TerminalSize): Promise<string> {
  const terminal = new Terminal({
    cols,
    rows,
    scrollback: SCROLLBACK,
    allowProposedApi: true,
    logLevel: 'off',
  });
  const serializer = new SerializeAddon();
  // Typed for the browser's terminal; it uses only what both have.
  terminal.loadAddon(serializer);
  await new Promise<void>((resolve) => terminal.write(data, resolve));
  const drawing = serializer.serialize({ scrollback: SCROLLBACK });
  terminal.dispose();
  return drawing;
}
