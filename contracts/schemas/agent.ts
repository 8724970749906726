// Shapes of the messages to agents; see session.ts for why zod/mini.
import { MODEL_NAME } from '../models/model-names';
import { DIALECTS, type AgentResult } from '../agents/agent';
import { WORKSPACES, type SpawnRequest } from '../agents/sub-agents';
import { ID_PATTERN, MESSAGE_ID_MAX_CHARS } from '../ids';
import { jsonBytes, MAX_MESSAGE_BYTES } from '../payload-size';
import { MAX_SESSIONS_PER_AGENT } from '../sessions/session';
import { asJson, isJson } from '../text/as-json';
import { REWOUND_PARTS } from '../workspaces/rewinds';
import { idSchema, milliseconds, sessionNumber, toolNamesSchema, yieldSchema } from './session';
import { wantedWorkspaceSchema } from './checkpoint-shapes';
import { matching, z } from './zod';

const text = z.string().check(
  z.refine<string>((value) => value.trim() !== '', {
    error: 'got an empty text, allowed at least one word',
  }),
  z.refine<string>((value) => jsonBytes(value) <= MAX_MESSAGE_BYTES, {
    error: (issue) =>
      `got ${jsonBytes(issue.input)} bytes as JSON, allowed ${MAX_MESSAGE_BYTES}; name a file instead`,
  }),
);
const count = z.int().check(z.minimum(1), z.maximum(100_000));

const few = z.int().check(z.minimum(0), z.maximum(1_000));

export const limitsSchema = z.partial(
  z.strictObject({
    steps: count,
    wallMs: milliseconds,
    formatRepairs: count,
    toolCalls: count,
    tokens: z.int().check(z.minimum(0)),
    costUsd: z.number().check(z.minimum(0)),
    agents: few,
    depth: z.int().check(z.minimum(0), z.maximum(10)),
  }),
);

const modelName = z.string().check(
  matching(MODEL_NAME, {
    error: (issue) => `got ${asJson(issue.input)}, allowed provider:name, for example scripted:replies.yaml`,
  }),
);
const path = z.string().check(z.minLength(1), z.maxLength(1_000));
/** As JSON; it is sent with every model call. */
const MAX_SCHEMA_BYTES = 50_000;
const jsonSchema = z.record(z.string(), z.unknown()).check(
  z.refine<Record<string, unknown>>(isJson, {
    error: 'got what JSON cannot hold, such as a value that contains itself, allowed a JSON Schema',
    abort: true,
  }),
  z.refine<Record<string, unknown>>((value) => jsonBytes(value) <= MAX_SCHEMA_BYTES, {
    error: (issue) => `got ${jsonBytes(issue.input)} bytes as JSON, allowed ${MAX_SCHEMA_BYTES}`,
  }),
);
const instructions = z.string().check(z.minLength(1), z.maxLength(100_000));

export const agentInputSchema = z.strictObject({
  task: z.optional(text),
  mode: z.optional(z.enum(['task', 'conversation'])),
  model: modelName,
  dialect: z.optional(z.enum(DIALECTS)),
  instructions: z.optional(instructions),
  context: z.optional(z.array(path).check(z.maxLength(50))),
  outputSchema: z.optional(jsonSchema),
  host: z.optional(idSchema),
  remoteHost: z.optional(idSchema),
  cwd: z.optional(z.string().check(z.minLength(1))),
  tools: z.optional(toolNamesSchema),
  limits: z.optional(limitsSchema),
  yield: z.optional(yieldSchema),
  openSessions: z.optional(z.array(sessionNumber).check(z.maxLength(MAX_SESSIONS_PER_AGENT))),
  keep: z.optional(z.boolean()),
  idleMs: z.optional(milliseconds),
  tenant: z.optional(idSchema),
  from: z.optional(
    z.strictObject({
      agent: idSchema,
      runId: z.string().check(z.minLength(1), z.maxLength(100)),
      count: z.int().check(z.minimum(0), z.maximum(1_000_000)),
    }),
  ),
  workspace: z.optional(wantedWorkspaceSchema),
});

const messageId = z.string().check(z.minLength(1), z.maxLength(MESSAGE_ID_MAX_CHARS));

export const sendSchema = z.strictObject({
  id: z.optional(messageId),
  message: text,
  mode: z.optional(z.enum(['queue', 'interrupt'])),
});
/** Documented only: queries are not checked. */
export const transcriptSchema = z.object({ from: z.optional(z.int()), limit: z.optional(z.int()) });

export const takenSchema = z.object({ id: messageId });

export const interruptSchema = z.strictObject({});
export const recoverSchema = z.strictObject({
  id: z.optional(messageId),
  reason: z.optional(z.string().check(z.maxLength(1_000))),
});

export const rewindSchema = z.strictObject({
  id: z.optional(messageId),
  to: z.int().check(z.minimum(0), z.maximum(1_000_000)),
  what: z.optional(z.enum(REWOUND_PARTS)),
  dryRun: z.optional(z.boolean()),
  force: z.optional(z.boolean()),
  stop: z.optional(z.boolean()),
});

export const spawnSchema = z.strictObject({
  key: z.string().check(z.minLength(1), z.maxLength(1_000)),
  role: z.string().check(z.minLength(1), z.maxLength(200)),
  prompt: text,
  instructions: z.optional(instructions),
  model: z.optional(modelName),
  tools: z.optional(toolNamesSchema),
  limits: z.optional(limitsSchema),
  workspace: z.optional(z.enum(WORKSPACES)),
});
const agentIds = z.array(z.string().check(matching(ID_PATTERN))).check(z.minLength(1), z.maxLength(1_000));
export const agentsWaitSchema = z.strictObject({
  agentIds,
  mode: z.optional(z.enum(['all', 'any'])),
  timeoutMs: z.optional(milliseconds),
});
export const dismissSchema = z.strictObject({ turn: z.optional(z.int().check(z.minimum(1))) });
export const stopSchema = z.strictObject({ reason: z.optional(z.string().check(z.maxLength(1_000))) });

/** As models and scripts write it. An id may still be a reference; the agent reports invalid ones. */
export const agentsWaitCallSchema = z.strictObject({
  agent_ids: z.array(z.string()).check(z.minLength(1), z.maxLength(1_000)),
  mode: z.optional(z.enum(['all', 'any'])),
  timeout_ms: z.optional(milliseconds),
});

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
export const spawnAgentsSchema = z.object({
  turn: turnId,
  agents: z.array(asked).check(z.minLength(1), z.maxLength(1_000)),
});
export const agentsSpawnedSchema = z.object({
  agents: z.array(
    z.union([
      z.object({ key: z.string(), agentId: z.string() }),
      z.object({ key: z.string(), fault: z.object({ code: z.string(), message: z.string() }) }),
    ]),
  ),
});
