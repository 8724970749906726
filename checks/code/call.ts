// A call as the tables of the languages get it, with what they may ask of the program.
import type { Scope } from '../bash/scope';
import type { Check } from '../check';
import type { Placing } from '../findings';
import type { FunctionNode, Node } from './program';
import type { Value } from './value';

export interface FollowedProgram {
  readonly check: Check;
  readonly placing: Placing;
  readonly depth: number;
  /** The files that it has written, and its folder. */
  readonly scope: Scope;
  /** How many conditions are around what is followed. */
  readonly conditions: number;
  /** Whether a loop without an end is around. */
  readonly isEndless: boolean;
  list(items: Value[], node: Node): Value;
  /** What the function returns when it is given these. */
  call(func: FunctionNode, given: Value[], named?: Map<string, Value>): Value;
  /** Where a text's first character stands, when it is written without escapes. */
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
  /** The full name of what is called; '' where nobody knows. */
  dotted: string;
}

export interface CallTable {
  /** Texts that stand for what they name, such as `os.environ`. */
  constants: Record<string, string | undefined>;
  /** Undefined for what is not in the table. */
  call(call: Call): Value | undefined;
}
