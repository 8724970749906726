// Shapes of the messages to agents; see session.ts for why zod/mini.
import { jsonBytes, MAX_MESSAGE_BYTES } from '../payload-size';
import { idSchema, milliseconds, toolNamesSchema, yieldSchema } from './session';
import { z } from './zod';

const text = z.string().check(
  z.refine<string>((value) => value.trim() !== '', {
    error: 'got an empty text, allowed one with at least a word',
  }),
  z.refine<string>((value) => jsonBytes(value) <= MAX_MESSAGE_BYTES, {
    error: (issue) =>
      `got ${jsonBytes(issue.input)} bytes as JSON, allowed ${MAX_MESSAGE_BYTES}; name a file instead`,
  }),
);
const count = z.int().check(z.minimum(1), z.maximum(100_000));

export const limitsSchema = z.partial(
  z.strictObject({ steps: count, wallMs: milliseconds, formatRepairs: count, toolCalls: count }),
);

export const agentInputSchema = z.strictObject({
  task: z.optional(text),
  mode: z.optional(z.enum(['task', 'conversation'])),
  model: z.string().check(
    z.regex(/^[a-z][a-z0-9-]*:.+$/s, {
      error: (issue) =>
        `got ${JSON.stringify(issue.input)}, allowed provider:name, for example scripted:replies.yaml`,
    }),
  ),
  host: z.optional(idSchema),
  cwd: z.optional(z.string().check(z.minLength(1))),
  tools: z.optional(toolNamesSchema),
  limits: z.optional(limitsSchema),
  yield: z.optional(yieldSchema),
  keep: z.optional(z.boolean()),
  idleMs: z.optional(milliseconds),
});

export const sendSchema = z.strictObject({ message: text });
export const stopSchema = z.strictObject({ reason: z.optional(z.string().check(z.maxLength(1_000))) });
