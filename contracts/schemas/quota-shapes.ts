// Shapes of a quota: `[quota]` in `holdfast.toml`, and what the workers report to its counter, which anyone could send.
import { z } from './zod';

export const quotaSchema = z.strictObject({
  tokens_per_day: z.optional(z.int().check(z.positive())),
  dollars_per_day: z.optional(z.number().check(z.positive())),
});

const amount = z.number().check(z.minimum(0));

export const modelUseSchema = z.object({
  run: z.string().check(z.minLength(1), z.maxLength(100)),
  messages: z.int().check(z.minimum(0)),
  tokens: amount,
  costUsd: z.nullable(amount),
});
