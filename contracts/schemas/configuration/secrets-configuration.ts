// Shape of `[secrets]` in `holdfast.toml`: where the host finds the secrets. It holds none.
import { SECRET_NAME, SECRET_USES } from '../../tools/secrets';
import { z } from '../zod';

const text = z.string().check(z.minLength(1));
const name = z.string().check(
  z.regex(SECRET_NAME, {
    error: 'must be a name of at most 63 of a-z, A-Z, 0-9 and "_", with no digit first',
  }),
);

const pattern = text.check(
  z.refine((source) => isPattern(source), { error: 'must be a regular expression' }),
);

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Ids of agents and hosts, in which `*` stands for anything. */
const names = z.array(
  text.check(z.regex(/^[a-z0-9_*-]+$/, { error: 'must be an id, in which "*" stands for anything' })),
);

const allowSchema = z.strictObject({
  agents: z.optional(names),
  hosts: z.optional(names),
  use: z.optional(z.array(z.enum(SECRET_USES))),
  commands: z.optional(z.array(pattern)),
});

export const secretsSchema = z.strictObject({
  file: z.optional(text),
  env: z._default(z.array(name), []),
  allow: z.optional(z.record(name, allowSchema)),
  command: z.optional(
    z.array(text).check(
      z.refine((words) => words.slice(1).some((word) => word.includes('{name}')), {
        error: 'must be a program and its arguments, with "{name}" in one of them',
      }),
    ),
  ),
});

export type SecretsEntry = z.infer<typeof secretsSchema>;
