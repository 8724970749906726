// The value of an expression, as far as the code itself determines it.
import { UNKNOWN, marksOf } from '../text';
import type { FunctionNode, Node } from './parsed-program';

export interface Value {
  /** With marks. */
  text: string;
  /** Its full name: `os.path.join`, `child_process.exec`. */
  dotted?: string | undefined;
  /** Elements of a list. */
  items?: Value[] | undefined;
  /** Entries of an object or a dict. */
  entries?: Map<string, Value> | undefined;
  func?: FunctionNode | undefined;
  /** Where it is in the code. */
  node: Node;
}

/** All texts in a value, to find out their origin. */
export const allText = (value: Value | undefined, depth = 4): string => {
  if (!value) return '';
  const parts = [...(value.items ?? []), ...(value.entries?.values() ?? [])];
  return depth === 0 ? value.text : [value.text, ...parts.map((part) => allText(part, depth - 1))].join('');
};

export const unknown = (node: Node, ...from: (Value | undefined)[]): Value => ({
  text: from.length === 0 ? UNKNOWN : marksOf(...from.map((value) => allText(value))),
  node,
});

/** A module's name in the form used by both languages' tables. */
export const moduleName = (name: string): string => name.replace(/^node:/, '').replaceAll('/', '.');
