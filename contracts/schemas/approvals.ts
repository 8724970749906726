// Shapes of approvals and denials; see session.ts for why zod/mini.
import { idSchema, sessionNumber } from './session';
import { z } from './zod';

const text = z.string().check(z.minLength(1), z.maxLength(1_000));
const approve = { id: z.optional(text), hash: z.optional(text), by: z.optional(text) };
const deny = { id: z.optional(text), by: z.optional(text), reason: z.optional(text) };
const where = { session: z.optional(sessionNumber), host: z.optional(idSchema) };
const scope = z.optional(z.enum(['once', 'session']));

/** Documented only: queries are not checked. */
export const approvalsSchema = z.object({ id: z.optional(z.string()) });
export const approveSchema = z.strictObject({ ...approve, scope });
export const denySchema = z.strictObject(deny);
export const agentApproveSchema = z.strictObject({ ...approve, scope, ...where });
export const agentDenySchema = z.strictObject({ ...deny, ...where });
