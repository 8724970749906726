// What somebody may have meant by a name that is not known.
import { closest, distance } from 'fastest-levenshtein';

const MAX_DISTANCE = 3;

/** The known name that is most like this one; undefined if none is. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const near = closest(name, known);
  return distance(name, near) <= MAX_DISTANCE ? near : undefined;
}
