// Shape of `[sandbox]` in `holdfast.toml`.
import { z } from '../zod';

const paths = z._default(z.array(z.string().check(z.minLength(1))), []);
const count = z.optional(z.int().check(z.positive()));
const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.enum(values, { error: `must be one of ${values.map((value) => `"${value}"`).join(', ')}` });

/** A name, all names below one, or an address; without a port, the web's ports. */
const NAMED_HOST = /^((\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(:[1-9]\d{0,4})?$/i;
const HOSTS = 'hosts such as "pypi.org", "*.example.org" and "registry.internal:8443"';

const error = `must be one of ${HOSTS}`;
const hasPort = (host: string): boolean => Number(/:(\d+)$/.exec(host)?.[1] ?? 1) <= 65_535;
const namedHost = z.string().check(z.regex(NAMED_HOST, { error }), z.refine(hasPort, { error }));
const namedHosts = z
  .array(namedHost)
  .check(z.refine((hosts) => hosts.length > 0, { error: `must name ${HOSTS}, or be "none"` }));

export const sandboxSchema = z.strictObject({
  mode: z._default(oneOf(['off', 'prefer', 'required']), 'off'),
  network: z._default(
    z.union([z.enum(['none', 'full']), namedHosts], {
      error: `must be "none", "full" or a list of ${HOSTS}`,
    }),
    'none',
  ),
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
