// The value of an expression, as far as the code itself determines it, and a call with such values.
import type { Scope } from '../bash/scope';
import type { Check } from '../check-run';
import type { Language, Placing } from '../findings';
import { BELOW, UNKNOWN, bounded, marksOf } from '../text';
import type { EsNode } from './estree';

export interface Value {
  /** With marks. */
  text: string;
  /** Its full name: `os.path.join`, `child_process.exec`. */
  dotted?: string | undefined;
  /** Elements of a list. */
  items?: Value[] | undefined;
  /** Entries of an object or a dict. */
  entries?: Map<string, Value> | undefined;
  func?: EsNode | undefined;
  /** Where it is in the code. */
  node: EsNode;
}

export interface ProgramSetting {
  check: Check;
  language: Language;
  placing: Placing;
  depth: number;
}

/** What a call may ask of the program it is in. */
export interface FollowedProgram {
  readonly setting: ProgramSetting;
  /** The files that the program has written, and its working folder. */
  readonly scope: Scope;
  /** How many conditions surround the current code. */
  readonly conditions: number;
  /** Whether the current code is inside an endless loop. */
  readonly isEndless: boolean;
  /** The function's result for these arguments. */
  call(func: EsNode, given: Value[]): Value;
}

export interface Call {
  program: FollowedProgram;
  node: EsNode;
  args: Value[];
  /** Python's. */
  keywords: Map<string, Value>;
  /** What a method is called on. */
  receiver: Value | undefined;
  method: string;
  /** The full name of the callee; '' if unknown. */
  dotted: string;
}

/** All texts in a value, to find out their origin. */
export const allText = (value: Value | undefined, depth = 4): string => {
  if (!value) return '';
  const parts = [...(value.items ?? []), ...(value.entries?.values() ?? [])];
  return depth === 0 ? value.text : [value.text, ...parts.map((part) => allText(part, depth - 1))].join('');
};

export const unknown = (node: EsNode, ...from: (Value | undefined)[]): Value => ({
  text: from.length === 0 ? UNKNOWN : marksOf(...from.map((value) => allText(value))),
  node,
});

export const list = (items: Value[], node: EsNode): Value => ({
  text: bounded(items.map(({ text }) => text).join(' ')),
  items,
  node,
});

/** A module's name in the form that the table of calls uses. */
export const moduleName = (name: string): string => name.replace(/^node:/, '').replaceAll('/', '.');

/** A variable of the environment, whose value is not known. */
const VARIABLE = /^(?:os\.environ|os\.getenv|process\.env)\b/;

/** Whether it says more than that it is unknown. */
export const isDetermined = ({ text, items, func, dotted }: Value): boolean =>
  (items ?? func) !== undefined || text !== UNKNOWN || (dotted !== undefined && !VARIABLE.test(dotted));

/** A part of a destructured value; a path below something stays one. */
export const partOf = (value: Value, node: EsNode): Value =>
  value.text.includes(BELOW) ? { ...value, node } : unknown(node, value);

/** Python's `/` on paths. */
export const below = (left: Value, right: Value, node: EsNode): Value => ({
  ...left,
  text: right.text.startsWith('/') ? right.text : `${left.text}/${right.text}`,
  node,
});

/** Python's `%` on texts. */
export function formatted(left: Value, right: Value, node: EsNode): Value {
  const values = [...(right.items ?? [right])];
  const text = left.text.replace(/%[-+ #0]*\d*(?:\.\d+)?[sdrifx]/g, () => values.shift()?.text ?? UNKNOWN);
  return { text: bounded(text), node };
}
