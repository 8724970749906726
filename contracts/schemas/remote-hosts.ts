// Shapes of what hosts announce; see session.ts for why zod/mini.
import { ACCESS } from '../sessions/remote-hosts';
import { z } from './zod';

const text = z.string().check(z.minLength(1), z.maxLength(1_000));

export const hostFactsSchema = z.strictObject({
  instance: text,
  version: text,
  protocol: z.int(),
  access: z.enum(ACCESS),
  root: text,
  treeKill: z.enum(['pid-namespace', 'user-pid-namespace', 'process-search']),
  sandbox: z.nullable(text),
  capabilities: z.array(text).check(z.maxLength(50)),
  listens: z.nullable(z.strictObject({ address: text, fingerprint: text })),
});

export const hostInputSchema = z.strictObject({ namespace: z.optional(text) });
