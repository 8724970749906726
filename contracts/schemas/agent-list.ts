// Shape of a request for a list of agents. Not in a workflow: only clients list.
import { WAITS_FOR } from '../agents/waits';
import { AGENT_STATES } from '../agents/work-state';
import { z } from './zod';

export const listAgentsSchema = z.strictObject({
  state: z.optional(z.enum(AGENT_STATES)),
  waitsFor: z.optional(z.enum(WAITS_FOR)),
  text: z.optional(z.string().check(z.minLength(1), z.maxLength(1_000))),
  ended: z.optional(z.boolean()),
});
