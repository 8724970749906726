// Shape of `[secrets]` in `holdfast.toml`: where the host finds them. It holds none.
import { SECRET_NAME } from '../secrets';
import { z } from './zod';

const text = z.string().check(z.minLength(1));
const name = z.string().check(
  z.regex(SECRET_NAME, {
    error: 'must be a name of at most 63 of a-z, A-Z, 0-9 and "_", with no digit first',
  }),
);

export const secretsSchema = z.strictObject({
  file: z.optional(text),
  env: z._default(z.array(name), []),
  command: z.optional(
    z.array(text).check(
      z.refine((words) => words.slice(1).some((word) => word.includes('{name}')), {
        error: 'must be a program and its arguments, with "{name}" in one of them',
      }),
    ),
  ),
});

export type SecretsEntry = z.infer<typeof secretsSchema>;
