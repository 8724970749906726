// What goes between a worker and the process in which a tool runs that is confined to a sandbox.
import type { ErrorCode, ErrorFacts } from '../../contracts/errors';
import type { JsonValue } from '../../contracts/tools';

export interface ConfinedCall {
  tool: string;
  /** Checked already. */
  args: unknown;
  /** Folder that relative paths count from. */
  cwd: string;
}

export type ConfinedAnswer =
  | { value: JsonValue }
  | { error: { code: ErrorCode; facts: ErrorFacts } }
  /** What is no error of the catalogue. */
  | { thrown: string };
