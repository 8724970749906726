// Shapes of the signals between an agent, its turns and its sub-agents; see session.ts for why zod/mini.
import type { AgentResult } from '../agents/agent';
import type { SpawnRequest } from './agent';
import { milliseconds } from './session';
import { z } from './zod';

const usageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number(),
  costUsd: z.nullable(z.number()),
  pricedUsd: z.optional(z.number()),
});
const errorSchema = z.object({
  code: z.string(),
  message: z.string(),
  facts: z.record(z.string(), z.unknown()),
  docs: z.optional(z.string()),
});
const looseResult = z.looseObject({
  answer: z.nullable(z.string()),
  reason: z.string(),
  error: z.nullable(errorSchema),
  steps: z.number(),
  usage: z.optional(usageSchema),
});
/** Of our own workflow: only what would break its receiver is checked. */
const resultSchema = looseResult as unknown as z.ZodMiniType<AgentResult>;
/** Sent between our own workflows; checked because anyone may send a signal. */
export const agentEndedSchema = z.object({ agentId: z.string(), result: resultSchema });
const turnId = z.string().check(z.regex(/^agent\/[a-z0-9_-]+\/turn\/\d+$/));
export const awaitAgentsSchema = z.object({
  key: z.string().check(z.minLength(1), z.maxLength(1_000)),
  turn: turnId,
  agentIds: z.array(z.string()).check(z.minLength(1), z.maxLength(1_000)),
  mode: z.optional(z.enum(['all', 'any'])),
  timeoutMs: z.optional(milliseconds),
});
export const agentsEndedSchema = z.object({
  key: z.string(),
  result: z.optional(
    z.object({
      results: z.record(z.string(), z.unknown()),
      timedOut: z.boolean(),
      usage: z.optional(usageSchema),
    }),
  ),
  fault: z.optional(z.object({ code: z.string(), message: z.string() })),
});
/** The agent checks each of them, so that it can answer for each. */
const asked = z.looseObject({ key: z.string() }) as unknown as z.ZodMiniType<SpawnRequest>;
/** A turn asks its agent for sub-agents: all that one reply starts, together. */
export const spawnAgentsSchema = z.object({
  turn: turnId,
  agents: z.array(asked).check(z.minLength(1), z.maxLength(1_000)),
});
export type SpawnAgentsSignal = z.infer<typeof spawnAgentsSchema>;
export const agentsSpawnedSchema = z.object({
  agents: z.array(
    z.union([
      z.object({ key: z.string(), agentId: z.string() }),
      z.object({ key: z.string(), fault: z.object({ code: z.string(), message: z.string() }) }),
    ]),
  ),
});
