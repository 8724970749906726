// What hosts announce, and what is known about them: the schemas and, from them, the types. See session.ts for why zod/mini.
import { ACCESS } from '../sessions/remote-hosts';
import { z } from './zod';

const text = z.string().check(z.minLength(1), z.maxLength(1_000));
export const treeKill = z.enum(['pid-namespace', 'user-pid-namespace', 'process-search']);

const listener = { address: text, fingerprint: text };
const facts = {
  /** One process of the host; a new process replaces it. */
  instance: text,
  version: text,
  protocol: z.int(),
  access: z.enum(ACCESS),
  /** Where its shells start. */
  root: text,
  treeKill,
  /** Null: code runs as the host's user. */
  sandbox: z.nullable(text),
  /** What it can do beyond the protocol's minimum, for example `attach`. */
  capabilities: z.array(text).check(z.maxLength(50)),
  /** Where it takes connections for `attach` and live output; null: it is followed through Temporal. */
  listens: z.nullable(z.strictObject(listener)),
};
/** What a host announces when it connects, and whenever it changes. */
export const hostFactsSchema = z.strictObject(facts);
export type HostFacts = z.infer<typeof hostFactsSchema>;

/** Input of the workflow `host`: empty, or the namespace of a host in another trust domain. */
export const hostInputSchema = z.strictObject({ namespace: z.optional(text) });
export type HostInput = z.infer<typeof hostInputSchema>;

/** The answer to the query `state` of `host`. */
export const hostState = z.object({
  host: z.string(),
  status: z.enum(['online', 'offline']),
  /** When that status began; ISO 8601. */
  since: z.string(),
  /** Why it is offline. */
  reason: z.nullable(z.string()),
  /** From the last time it was online; null before the first. */
  facts: z.nullable(z.object({ ...facts, listens: z.nullable(z.object(listener)) })),
  /** Where its sessions' workflows are. */
  namespace: z.string(),
  refused: z.array(z.string()),
});
export type HostState = z.infer<typeof hostState>;
