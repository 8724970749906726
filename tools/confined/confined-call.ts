// The messages between a worker and the process that runs a tool confined to a sandbox.
import type { ErrorCode, ErrorFacts } from '../../contracts/errors/holdfast-error';
import type { JsonValue } from '../../contracts/tools/tools';

export interface ConfinedCall {
  tool: string;
  /** Already checked. */
  args: unknown;
  /** The folder that relative paths start from. */
  cwd: string;
}

export type ConfinedAnswer =
  | { value: JsonValue }
  | { error: { code: ErrorCode; facts: ErrorFacts } }
  /** An error outside the catalogue. */
  | { thrown: string };
