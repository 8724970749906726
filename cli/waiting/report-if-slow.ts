// A person at a terminal is not left in silence: what takes longer than two seconds is named. In a pipe it is not: what a
// program reads does not depend on how fast things were.
import { note } from '../terminal/terminal-style';

const SLOW_MS = 2_000;

export function reportWait(what: string): void {
  if (process.stderr.isTTY) note(`Waiting for ${what} ...`);
}

/** @param what goes behind "Waiting for" */
export async function reportIfSlow<T>(what: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => reportWait(what), SLOW_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}
