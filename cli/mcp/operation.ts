// The type of an operation that `holdfast mcp` offers as a tool.
import type * as z from 'zod/mini';
import type { CliContext } from '../open-context';

export interface Answer {
  /** What a model reads. */
  text: string;
  /** The result for programs. */
  structured: Record<string, unknown>;
}

export interface Operation<Args = unknown> {
  name: string;
  description: string;
  args: z.core.$ZodType<Args>;
  /** Its arguments may be a password: errors do not show them. */
  secret?: boolean;
  isReadOnly: boolean;
  run(args: Args, context: CliContext): Promise<Answer>;
}

export const operation = <Args>(given: Operation<Args>): Operation => given;

/** A value whose JSON is also its text. */
export const asJson = (structured: Record<string, unknown>): Answer => ({
  text: JSON.stringify(structured, null, 2),
  structured,
});
