// Shape of what the workers tell the counter of a quota, which anyone could send.
import { z } from './zod';

const amount = z.number().check(z.minimum(0));

export const modelUseSchema = z.object({
  day: z.string().check(z.regex(/^\d{4}-\d\d-\d\d$/)),
  run: z.string().check(z.minLength(1), z.maxLength(100)),
  messages: z.int().check(z.minimum(0)),
  tokens: amount,
  costUsd: z.nullable(amount),
});
