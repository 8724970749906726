// Shape of `[quota]` in `holdfast.toml`: what the models of all agents may use in a day.
import { z } from './zod';

export const quotaSchema = z.strictObject({
  tokens_per_day: z.optional(z.int().check(z.positive())),
  dollars_per_day: z.optional(z.number().check(z.positive())),
});
