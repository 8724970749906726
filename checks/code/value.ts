// What an expression is worth, as far as the code itself says.
import { UNKNOWN, marksOf } from '../text';
import type { FunctionNode, Node } from './program';

export interface Value {
  /** With marks. */
  text: string;
  /** What it is called from the outside: `os.path.join`, `child_process.exec`. */
  dotted?: string | undefined;
  /** Of a list. */
  items?: Value[] | undefined;
  /** Of an object or a dict. */
  entries?: Map<string, Value> | undefined;
  func?: FunctionNode | undefined;
  /** Where it stands in the code. */
  node: Node;
}

/** Everything that a value holds, for where it comes from. */
export const allText = (value: Value | undefined, depth = 4): string => {
  if (!value) return '';
  const parts = [...(value.items ?? []), ...(value.entries?.values() ?? [])];
  return depth === 0 ? value.text : [value.text, ...parts.map((part) => allText(part, depth - 1))].join('');
};

export const unknown = (node: Node, ...from: (Value | undefined)[]): Value => ({
  text: from.length === 0 ? UNKNOWN : marksOf(...from.map((value) => allText(value))),
  node,
});

/** A module's name as both languages' tables have it. */
export const moduleName = (name: string): string => name.replace(/^node:/, '').replaceAll('/', '.');
