// A call as passed to the languages' tables, and what they may ask of the program.
import type { Scope } from '../bash/scope';
import type { Check } from '../check-run';
import type { Placing } from '../findings';
import type { FunctionNode, Node } from './parsed-program';
import type { Value } from './value';

export interface FollowedProgram {
  readonly check: Check;
  readonly placing: Placing;
  readonly depth: number;
  /** The files that the program has written, and its working folder. */
  readonly scope: Scope;
  /** How many conditions surround the current code. */
  readonly conditions: number;
  /** Whether the current code is inside an endless loop. */
  readonly isEndless: boolean;
  list(items: Value[], node: Node): Value;
  /** The function's result for these arguments. */
  call(func: FunctionNode, given: Value[], named?: Map<string, Value>): Value;
  /** Where a text's first character is, if the text is written without escapes. */
  exactStart(node: Node): number | null;
}

export interface Call {
  program: FollowedProgram;
  node: Node;
  args: Value[];
  named: Map<string, Value>;
  /** What a method is called on. */
  receiver: Value | undefined;
  method: string;
  /** The full name of the callee; '' if unknown. */
  dotted: string;
}

export interface CallTable {
  /** Texts for the values of known names, such as `os.environ`. */
  constants: Record<string, string | undefined>;
  /** Undefined if the call is not in the table. */
  call(call: Call): Value | undefined;
}
