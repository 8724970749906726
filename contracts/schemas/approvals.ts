// Shapes of approvals and denials; see session.ts for why zod/mini.
import type { Approval } from '../tools/approvals';
import { idSchema, sessionNumber } from './session';
import { z } from './zod';

const text = z.string().check(z.minLength(1), z.maxLength(1_000));
const approve = {
  /** Default: the only pending one. */
  id: z.optional(text),
  /** If given, must be the hash of what is pending. */
  hash: z.optional(text),
  /** `session`: the same rules are not asked about again as long as this session or turn lasts. Default `once`. */
  scope: z.optional(z.enum(['once', 'session'])),
  /** Who approves, for the record. */
  by: z.optional(text),
};
const deny = {
  id: z.optional(text),
  by: z.optional(text),
  /** The model reads it. */
  reason: z.optional(text),
};
const where = { session: z.optional(sessionNumber), host: z.optional(idSchema) };

const approval = z.looseObject({
  id: z.string(),
  what: z.string(),
  hash: z.string(),
  reasons: z.array(z.looseObject({ rule: z.string(), found: z.string() })),
  expiresAt: z.string(),
  agent: z.string(),
  place: z.looseObject({ host: z.string(), cwd: z.nullable(z.string()) }),
  runs: z.string(),
  values: z.array(
    z.looseObject({ name: z.string(), text: z.string(), bytes: z.number(), omitted: z.number() }),
  ),
});
/** Sent between our own workflows; what their pages show is checked because anyone may send a signal. */
export const questionsSchema = z.object({
  workflowId: z.string(),
  waiting: z.array(approval) as unknown as z.ZodMiniType<Approval[]>,
});

/** Documented only: queries are not checked. */
export const approvalsSchema = z.object({ id: z.optional(z.string()) });
export const approveSchema = z.strictObject(approve);
export type ApproveRequest = z.infer<typeof approveSchema>;
export const denySchema = z.strictObject(deny);
export type DenyRequest = z.infer<typeof denySchema>;
/** Sent to an agent, which forwards it to one of its sessions, or without a session to its turn. */
export const agentApproveSchema = z.strictObject({ ...approve, ...where });
export const agentDenySchema = z.strictObject({ ...deny, ...where });
