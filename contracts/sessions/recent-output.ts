// What an error shows of the output of the command in the way. Pure.
import { endOf } from '../text/well-formed';

const RECENT_CHARACTERS = 2_000;

/** The last whole lines of an output. */
export function recentOutput(output: string): string {
  const text = output.trimEnd();
  const end = endOf(text, RECENT_CHARACTERS);
  return end.length < text.length ? end.slice(end.indexOf('\n') + 1) : end;
}
