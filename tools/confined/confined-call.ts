// The messages between a worker and the process that runs a tool confined to a sandbox.
import type { ErrorCode, ErrorFacts } from '../../contracts/errors/holdfast-error';
import type { JsonValue } from '../../contracts/tools/tools';

export interface ConfinedCall {
  tool: string;
  /** Already checked. */
  args: unknown;
  /** The folder that relative paths start from. */
  cwd: string;
  /** As in `ToolContext`. */
  askedAt?: number | undefined;
  /** Whether the caller is a model, which can be shown images. */
  wantsImages: boolean;
}

export type ConfinedAnswer =
  /** `images` in base64. */
  | { value: JsonValue; images?: string[] }
  | { error: { code: ErrorCode; facts: ErrorFacts } }
  /** An error outside the catalogue. */
  | { thrown: string };
