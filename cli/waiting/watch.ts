// `--watch`: shows something again and again, until Ctrl-C.
import { setTimeout as delay } from 'node:timers/promises';
import { draw } from '../terminal/guarded-output';

const EVERY_MS = 1_000;
/** Cursor home, then clear to the end (ECMA-48 CUP, ED). */
const CLEAR = '\x1b[H\x1b[J';

/** In a terminal the screen is redrawn; elsewhere each change is printed once. */
export async function watch(render: () => Promise<string>): Promise<never> {
  process.once('SIGINT', () => process.exit(130));
  if (process.stdout.isTTY) draw('\x1b[2J');
  for (let before = ''; ; await delay(EVERY_MS)) {
    const text = await render();
    if (process.stdout.isTTY) draw(CLEAR);
    if (process.stdout.isTTY || text !== before) process.stdout.write(text);
    before = text;
  }
}
