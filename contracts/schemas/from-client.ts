// Shapes of what a terminal's client sends.
import type { FromClient } from '../gateway/terminal';
import { z } from './zod';

const size = {
  cols: z.int().check(z.minimum(1), z.maximum(1_000)),
  rows: z.int().check(z.minimum(1), z.maximum(1_000)),
};
const offset = z.int().check(z.minimum(0));

export const helloSchema = z.strictObject({
  kind: z.literal('hello'),
  from: z.nullable(offset),
  ...size,
  types: z.boolean(),
  take: z.optional(z.boolean()),
  client: z.optional(z.string().check(z.regex(/^[\w-]{16,100}$/))),
});

const MAX_INPUT_CHARS = 64 * 1024;
const MAX_COMMAND_CHARS = 1_000;

export const fromClientSchema = z.union([
  helloSchema,
  z.strictObject({
    kind: z.literal('input'),
    // Too long for a counter: two clients that count would take each other's inputs for repeated ones.
    id: z.string().check(z.minLength(16), z.maxLength(100)),
    data: z.string().check(z.maxLength(MAX_INPUT_CHARS), z.regex(/^[A-Za-z0-9+/]*={0,2}$/)),
    command: z.optional(z.string().check(z.maxLength(MAX_COMMAND_CHARS))),
  }),
  z.strictObject({ kind: z.literal('resize'), ...size }),
  z.strictObject({ kind: z.literal('ack'), to: offset }),
]) satisfies z.ZodMiniType<FromClient>;
