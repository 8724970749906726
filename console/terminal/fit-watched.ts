// Fits a watched terminal into its tile. Its size is the typist's: letters become smaller, down to what can be read, and
// what still does not fit follows the last line.
import type { Terminal } from '@xterm/xterm';

const FONT_PX = 13;
const SMALLEST_PX = 9;
interface Size {
  cols: number;
  rows: number;
}

/** Nearer than this to its end, it follows. */
const NEAR_PX = 30;

/** For a person who types, letters have their usual size. */
export function usualLetters({ options }: Terminal): void {
  if (options.fontSize !== FONT_PX) options.fontSize = FONT_PX;
}

/** How much of a size remains with letters as large as usual. */
export function inUsualLetters({ options }: Terminal, { cols, rows }: Size): Size {
  const scale = (options.fontSize ?? FONT_PX) / FONT_PX;
  return { cols: Math.max(2, Math.floor(cols * scale)), rows: Math.max(1, Math.floor(rows * scale)) };
}

/** @param fitting the size that would fit the place with the letters of now */
export function fitWatched(terminal: Terminal, fitting: Size | undefined): void {
  if (!fitting) return;
  const now = terminal.options.fontSize ?? FONT_PX;
  const scale = Math.min(fitting.rows / terminal.rows, fitting.cols / terminal.cols);
  const wanted = Math.max(SMALLEST_PX, Math.min(FONT_PX, Math.floor(now * scale)));
  if (wanted !== now) terminal.options.fontSize = wanted;
}

/** Shows the row of the cursor, unless the person has scrolled away from it. */
export class FollowedRow {
  private isFollowing = true;

  constructor(
    private readonly terminal: Terminal,
    private readonly place: HTMLElement,
  ) {
    place.addEventListener('scroll', this.look, { passive: true });
  }

  follow(): void {
    if (!this.isFollowing) return;
    const { place } = this;
    place.scrollTop = this.wanted();
  }

  dispose(): void {
    this.place.removeEventListener('scroll', this.look);
  }

  private readonly look = (): void => {
    this.isFollowing = Math.abs(this.place.scrollTop - this.wanted()) < NEAR_PX;
  };

  /** So that the cursor's row is the last one in view. */
  private wanted(): number {
    const { terminal, place } = this;
    const screen = terminal.element?.querySelector('.xterm-screen');
    const height = screen?.clientHeight ?? 0;
    const rowPx = height / terminal.rows;
    const below = (terminal.buffer.active.cursorY + 1) * rowPx + 2 * PADDING_PX - place.clientHeight;
    return Math.max(0, Math.min(below, place.scrollHeight - place.clientHeight));
  }
}

/** The padding of the place, at each side. */
const PADDING_PX = 6;
