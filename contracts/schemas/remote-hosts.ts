// Shapes of what hosts announce; see session.ts for why zod/mini.
import { ACCESS } from '../sessions/remote-hosts';
import { z } from './zod';

const text = z.string().check(z.minLength(1), z.maxLength(1_000));
export const treeKill = z.enum(['pid-namespace', 'user-pid-namespace', 'process-search']);

export const hostFactsSchema = z.strictObject({
  instance: text,
  version: text,
  protocol: z.int(),
  access: z.enum(ACCESS),
  root: text,
  treeKill,
  sandbox: z.nullable(text),
  capabilities: z.array(text).check(z.maxLength(50)),
  listens: z.nullable(z.strictObject({ address: text, fingerprint: text })),
});

export const hostInputSchema = z.strictObject({ namespace: z.optional(text) });

/** The answer to the query `state` of `host`. */
export const hostState = z.object({
  host: z.string(),
  status: z.enum(['online', 'offline']),
  since: z.string(),
  reason: z.nullable(z.string()),
  facts: z.nullable(
    z.object({
      instance: z.string(),
      version: z.string(),
      protocol: z.int(),
      access: z.enum(ACCESS),
      root: z.string(),
      treeKill,
      sandbox: z.nullable(z.string()),
      capabilities: z.array(z.string()),
      listens: z.nullable(z.object({ address: z.string(), fingerprint: z.string() })),
    }),
  ),
  namespace: z.string(),
  refused: z.array(z.string()),
});
