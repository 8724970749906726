// Shapes of the messages to agents; see session.ts for why zod/mini.
import { MODEL_NAME } from '../models/model-names';
import { DIALECTS } from '../models/dialect-names';
import { WORKSPACES } from '../workspaces/own-workspaces';
import { WAITS_FOR } from '../agents/waits';
import { AGENT_STATES } from '../agents/work-state';
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

/** Settings that an agent hands to each of its turns. */
const settings = {
  /** `provider:name`, for example `scripted:replies.yaml`. */
  model: modelName,
  /** Default: the model's own, which is `agent-json` for scripted ones. */
  dialect: z.optional(z.enum(DIALECTS)),
  /** What the model reads about itself before anything else. */
  instructions: z.optional(instructions),
  /** Host files that the model reads before the first message, such as AGENTS.md; missing ones are left out. */
  context: z.optional(z.array(path).check(z.maxLength(50))),
  /** JSON Schema that the answer, a JSON text, must match. */
  outputSchema: z.optional(jsonSchema),
  /** Which host runs the shells. Default `local`. */
  host: z.optional(idSchema),
  /** Working folder of the shells. Default: the host's. */
  cwd: z.optional(z.string().check(z.minLength(1))),
  /** The host that `code_execution_remote` runs code on. Default: the only one online. */
  remoteHost: z.optional(idSchema),
  /** Whose agent it is: tenants take turns at the workers. Default: each tree of agents is a tenant of its own. */
  tenant: z.optional(idSchema),
  /** Names of the tools that the agent and its scripts may call. Default: all. */
  tools: z.optional(toolNamesSchema),
  limits: z.optional(limitsSchema),
  yield: z.optional(yieldSchema),
};
export type AgentSettings = z.infer<z.ZodMiniObject<typeof settings>>;

/** Input of the workflow `agent`: one plain JSON object. */
export const agentInputSchema = z.strictObject({
  /** The first message. */
  task: z.optional(text),
  /** `task` answers, closes its sessions and ends; `conversation` continues until `stop` or its idle limit. */
  mode: z.optional(z.enum(['task', 'conversation'])),
  ...settings,
  /** Sessions of its host to open at once, so that the first command in each need not wait for a shell. */
  openSessions: z.optional(z.array(sessionNumber).check(z.maxLength(MAX_SESSIONS_PER_AGENT))),
  /** Leaves the sessions open when the agent ends. */
  keep: z.optional(z.boolean()),
  /** Ends a conversation after this long without a message, in milliseconds. Default 24 h. */
  idleMs: z.optional(milliseconds),
  /** Starts from another conversation's first `count` messages, as that run holds them. */
  from: z.optional(
    z.strictObject({
      agent: idSchema,
      runId: z.string().check(z.minLength(1), z.maxLength(100)),
      count: z.int().check(z.minimum(0), z.maximum(1_000_000)),
    }),
  ),
  /** Works in a folder of its own, in place of `cwd`. */
  workspace: z.optional(wantedWorkspaceSchema),
});
export type AgentInput = z.infer<typeof agentInputSchema>;

const messageId = z.string().check(z.minLength(1), z.maxLength(MESSAGE_ID_MAX_CHARS));

/** One more message to an agent. */
export const sendSchema = z.strictObject({
  /** The same id again with the same message gets the recorded answer. Default: the update's id. */
  id: z.optional(messageId),
  message: text,
  /**
   * While a turn is running: `queue` (the default) lets it end first. `interrupt` cancels its model call, lets its
   * tools finish, and goes next.
   */
  mode: z.optional(z.enum(['queue', 'interrupt'])),
});
export type SendRequest = z.infer<typeof sendSchema>;

/** Documented only: queries are not checked. */
export const transcriptSchema = z.object({ from: z.optional(z.int()), limit: z.optional(z.int()) });

export const takenSchema = z.object({ id: messageId });

export const interruptSchema = z.strictObject({});
export const recoverSchema = z.strictObject({
  /** Repeating the same id resets nothing again. Default: the update's id. */
  id: z.optional(messageId),
  reason: z.optional(z.string().check(z.maxLength(1_000))),
});
export type RecoverRequest = z.infer<typeof recoverSchema>;

export const rewindSchema = z.strictObject({
  /** Repeating the same id rewinds nothing again. Default: the update's id. */
  id: z.optional(messageId),
  /** The step whose end is brought back; 0: before the first. */
  to: z.int().check(z.minimum(0), z.maximum(1_000_000)),
  /** Default `both`. */
  what: z.optional(z.enum(REWOUND_PARTS)),
  /** Says what would change, and changes nothing. */
  dryRun: z.optional(z.boolean()),
  /** Also where others have changed files since; theirs are in a checkpoint first. */
  force: z.optional(z.boolean()),
  /** Ends what runs in the agent's sessions first. */
  stop: z.optional(z.boolean()),
});
export type RewindRequest = z.infer<typeof rewindSchema>;

/** One more sub-agent. */
export const spawnSchema = z.strictObject({
  /** Repeating the same key starts nothing and answers with the same id. */
  key: z.string().check(z.minLength(1), z.maxLength(1_000)),
  /** Its role for its parent, for example `Planner`. */
  role: z.string().check(z.minLength(1), z.maxLength(200)),
  /** Its task. */
  prompt: text,
  /** What it reads about itself; from the role's file, if there is one. */
  instructions: z.optional(instructions),
  /** Default: its parent's. */
  model: z.optional(modelName),
  /** A subset of its parent's tools; default: all of them. */
  tools: z.optional(toolNamesSchema),
  /** At most its parent's limits, which are the default. */
  limits: z.optional(limitsSchema),
  /** `own`: it works in a copy, and its parent decides what becomes of its changes. Default `shared`. */
  workspace: z.optional(z.enum(WORKSPACES)),
});
export type SpawnRequest = z.infer<typeof spawnSchema>;
/** What a model's `spawn_agent` starts, as far as it is known before its turn's budget. */
export type SpawnPlan = Omit<SpawnRequest, 'key'>;

const agentIds = z.array(z.string().check(matching(ID_PATTERN))).check(z.minLength(1), z.maxLength(1_000));
export const agentsWaitSchema = z.strictObject({
  agentIds,
  /** Default `all`. */
  mode: z.optional(z.enum(['all', 'any'])),
  /** Default one hour. */
  timeoutMs: z.optional(milliseconds),
});
export type AgentsWaitRequest = z.infer<typeof agentsWaitSchema>;

export const dismissSchema = z.strictObject({
  /** The turn that is meant: if another one was the last, nothing happens. Default: the last one. */
  turn: z.optional(z.int().check(z.minimum(1))),
});
export type DismissRequest = z.infer<typeof dismissSchema>;
export const stopSchema = z.strictObject({ reason: z.optional(z.string().check(z.maxLength(1_000))) });
export type StopRequest = z.infer<typeof stopSchema>;

/** As models and scripts write it. An id may still be a reference; the agent reports invalid ones. */
export const agentsWaitCallSchema = z.strictObject({
  agent_ids: z.array(z.string()).check(z.minLength(1), z.maxLength(1_000)),
  mode: z.optional(z.enum(['all', 'any'])),
  timeout_ms: z.optional(milliseconds),
});

/** What a list of agents is asked for. */
export const listAgentsSchema = z.strictObject({
  state: z.optional(z.enum(AGENT_STATES)),
  waitsFor: z.optional(z.enum(WAITS_FOR)),
  text: z.optional(z.string().check(z.minLength(1), z.maxLength(1_000))),
  ended: z.optional(z.boolean()),
});
