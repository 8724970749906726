// Shape of `[sandbox]` in `holdfast.toml`.
import { z } from './zod';

const paths = z._default(z.array(z.string().check(z.minLength(1))), []);
const count = z.optional(z.int().check(z.positive()));
const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.map((value) => `"${value}"`).join(', ')}` });

export const sandboxSchema = z.strictObject({
  mode: z._default(oneOf(['off', 'prefer', 'required']), 'off'),
  network: z._default(oneOf(['none', 'full']), 'none'),
  git: z._default(oneOf(['read-only', 'writable']), 'read-only'),
  writable: paths,
  readable: paths,
  hidden: paths,
  limits: z.prefault(
    z.strictObject({
      processes: count,
      memory_mb: count,
      cpu_sec: count,
      file_mb: count,
      open_files: count,
    }),
    {},
  ),
});

export type SandboxEntry = z.infer<typeof sandboxSchema>;
