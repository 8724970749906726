// Reads JSON that a model wrote. Nearly valid JSON is not repaired: a guess could run something unintended.
import { shortened } from '../../contracts/text/well-formed';

/** The code that receives the value may be unable to walk a deeper one. */
const MAX_DEPTH = 100;

/** The value, or what is wrong with it, as a sentence for the model. */
export function readJson(text: string): { value: unknown } | { fault: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (err) {
    const { message } = err as Error;
    const hint = message.includes('control character')
      ? ' Inside a JSON string a line end is written \\n and a tab \\t.'
      : '';
    return { fault: `The JSON is invalid: ${message}.${hint}` };
  }
  if (depthOf(text) <= MAX_DEPTH) return { value };
  return { fault: `The JSON is nested too deep: allowed ${MAX_DEPTH} levels.` };
}

/** How deep valid JSON nests. */
function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [part] of json.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/g)) {
    if (part === '[' || part === '{') deepest = Math.max(deepest, ++depth);
    else if (part === ']' || part === '}') depth -= 1;
  }
  return deepest;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The JSON of a value that came as JSON; of one that is nested too deep to be written, a text that says so. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '"(nested too deep)"';
  }
}

const SHOWN_CHARACTERS = 200;

/** A value as shown in a fault. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return shortened(text, SHOWN_CHARACTERS);
}
