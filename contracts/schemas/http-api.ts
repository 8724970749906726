// Shapes of the API's own requests and answers; those of agents and sessions have schemas already.
import { AGENT_STATES } from '../agents/work-state';
import { WAITS_FOR } from '../agents/waits';
import {
  ROLES,
  type AgentTree,
  type InboxItem,
  type KeyedApproval,
  type Me,
  type SessionEntry,
  type UsageReport,
} from '../gateway/api';
import { TIME_LINE_KINDS, type TimeLine } from '../gateway/time-line';
import type { RegistryRecord } from '../tools/registry-record';
import { agentInputSchema, dismissSchema, listAgentsSchema, rewindSchema, sendSchema } from './agent';
import * as answers from './answers';
import { execSchema, idSchema, inputSchema, outputSchema, resetSchema, waitRequestSchema } from './session';
import { checkpointOutcome, fileChanges, wantedWorkspaceSchema } from './checkpoint-shapes';
import { z } from './zod';

const text = z.string();
const orNull = <T extends z.core.SomeType>(schema: T): z.ZodMiniNullable<T> => z.nullable(schema);
const items = <T extends z.core.SomeType>(
  item: T,
): z.ZodMiniObject<{ items: z.ZodMiniArray<T>; next: z.ZodMiniNullable<z.ZodMiniString> }> =>
  z.object({ items: z.array(item), next: orNull(text) });

const whole = (from: number, to: number): z.ZodMiniNumber => z.int().check(z.minimum(from), z.maximum(to));

export const agentsQuery = z.extend(listAgentsSchema, {
  limit: z.optional(whole(1, 1_000)),
  cursor: z.optional(text.check(z.maxLength(10_000))),
});
export const ofAgentQuery = z.strictObject({ agent: z.optional(idSchema) });
export const transcriptQuery = z.strictObject({
  from: z.optional(whole(0, 1_000_000_000)),
  limit: z.optional(whole(1, 1_000)),
});
export const eventsQuery = z.strictObject({ after: z.optional(text.check(z.maxLength(100))) });
export const outputQuery = z.omit(outputSchema, { reader: true, wait: true, waitMs: true });
export const logQuery = z.strictObject({
  from: z.optional(whole(0, Number.MAX_SAFE_INTEGER)),
  bytes: z.optional(whole(1, 8 * 1024 * 1024)),
});
export const diffQuery = z.strictObject({
  step: z.optional(whole(1, 1_000_000)),
  from: z.optional(whole(0, 1_000_000)),
  to: z.optional(whole(1, 1_000_000)),
  turn: z.optional(whole(1, 1_000_000)),
  lines: z.optional(z.boolean()),
});
export const findQuery = z.strictObject({
  text: text.check(z.minLength(1), z.maxLength(1_000)),
  from: z.optional(whole(0, Number.MAX_SAFE_INTEGER)),
  back: z.optional(z.boolean()),
});

const filePath = text.check(z.minLength(1), z.maxLength(4_096));
/** `host`: default the agent's. */
export const fileQuery = z.strictObject({ path: filePath, host: z.optional(idSchema) });
export const uploadQuery = z.extend(fileQuery, {
  sha256: text.check(z.regex(/^[0-9a-f]{64}$/)),
  bytes: whole(0, Number.MAX_SAFE_INTEGER),
});
export const uploaded = z.object({ bytes: z.int() });
export const writtenFile = z.object({ path: text, bytes: z.int(), sha256: text });

/**
 * Without what names another agent: its conversation (`from`), and who gets the workspace (`for`). A token may be for one of
 * the two only. What is known once a workspace is made (`base`) is not the caller's to say.
 */
const ownInput = z.extend(z.omit(agentInputSchema, { from: true }), {
  workspace: z.optional(z.omit(wantedWorkspaceSchema, { for: true, base: true })),
});
export const startBody = z.extend(ownInput, { id: z.optional(idSchema) });
export const forkBody = z.extend(z.partial(ownInput), {
  id: z.optional(idSchema),
  at: z.optional(whole(0, 1_000_000)),
  files: z.optional(z.boolean()),
});
const runId = text.check(z.minLength(1), z.maxLength(100));
/** Ids are the header `Idempotency-Key`. */
export const messageBody = z.omit(sendSchema, { id: true });
export const rewindBody = z.omit(rewindSchema, { id: true });
export const retryBody = z.strictObject({
  message: z.optional(sendSchema.shape.message),
  runId: z.optional(runId),
  id: z.optional(idSchema),
});
export const dismissBody = z.extend(dismissSchema, { runId });
export const reasonBody = z.omit(resetSchema, { id: true });
export const execBody = z.omit(execSchema, { id: true });
export const inputBody = z.omit(inputSchema, { id: true });
export const waitBody = waitRequestSchema;
export const approveBody = z.strictObject({
  hash: text.check(z.minLength(1), z.maxLength(1_000)),
  scope: z.optional(z.enum(['once', 'session'])),
});
export const denyBody = z.strictObject({ reason: z.optional(text.check(z.maxLength(1_000))) });
export const loginBody = z.strictObject({ token: text.check(z.minLength(1), z.maxLength(1_000)) });

export const loggedIn = z.object({ name: text, role: z.enum(ROLES) });
export const started = z.object({ agent: text });
export const accepted = z.object({ id: text });

export const stepList = items(
  z.object({
    step: z.int(),
    turn: orNull(z.int()),
    kind: z.enum(['calls', 'answer', 'malformed', 'rewind']),
    title: text,
    outcome: orNull(checkpointOutcome),
    isRewound: z.boolean(),
  }),
);
export const comparison = z.object({ changes: fileChanges, text: orNull(text), isCut: z.boolean() });

const agentEntry = z.object({
  id: text,
  workflowId: text,
  runId: text,
  state: orNull(z.enum(AGENT_STATES)),
  waitsFor: orNull(z.enum(WAITS_FOR)),
  message: orNull(text),
  startedAt: text,
  parent: orNull(text),
  failure: orNull(z.object({ turn: z.int(), why: text, at: text })),
  end: orNull(z.object({ at: orNull(text), how: text })),
});
export const agentList = items(agentEntry);

const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedTokens: z.number(),
  costUsd: orNull(z.number()),
  pricedUsd: z.optional(z.number()),
});
const wait = z.object({ for: text, since: text, workflowId: text });
const shellState = z.object({
  ...{ host: text, session: z.number(), workflowId: text },
  status: orNull(text),
  command: orNull(z.looseObject({ id: text })),
  waits: orNull(wait),
  logEnd: orNull(z.number()),
});
export const agentOverview = z.extend(answers.agentState, {
  waits: orNull(wait),
  turn: orNull(answers.turnState),
  shells: z.array(shellState),
});

export const agentTree = z.object({
  agent: text,
  role: orNull(text),
  status: z.enum(['running', 'ended']),
  since: orNull(text),
  reason: orNull(text),
  usage: orNull(usage),
  get agents(): z.ZodMiniArray<z.ZodMiniType<AgentTree>> {
    return z.array(agentTree);
  },
}) as unknown as z.ZodMiniType<AgentTree>;

const sessionEntry = z.object({
  ...{ agent: text, host: text, session: z.number(), workflowId: text, since: text },
  state: orNull(answers.sessionState),
  waits: orNull(wait),
});
/** `unread`: namespaces of hosts that could not be read. */
export const sessionList = z.extend(items(sessionEntry as unknown as z.ZodMiniType<SessionEntry>), {
  unread: z.array(text),
});

export const keyedApproval = z.extend(answers.approval, {
  workflowId: text,
  key: text,
}) as unknown as z.ZodMiniType<KeyedApproval>;
/** `unanswered`: workflows that could not say whether they wait; `unread`: namespaces of hosts that could not be read. */
export const approvalPage = z.extend(items(keyedApproval), {
  unanswered: z.array(text),
  unread: z.array(text),
});

const failure = z.object({ code: text, message: text, next: text });
const inboxItem = z.object({
  kind: z.enum(['approval', 'input', 'failed']),
  ...{ agent: text, since: text, text },
  approval: z.optional(keyedApproval),
  session: z.optional(
    z.object({
      ...{ host: text, session: z.number(), workflowId: text, screen: text, echo: z.boolean() },
      prompt: z.optional(z.object({ command: text, since: text })),
    }),
  ),
  run: z.optional(
    z.object({ runId: text, isOpen: z.boolean(), parent: orNull(text), turn: orNull(z.int()) }),
  ),
  failure: z.optional(failure),
}) as unknown as z.ZodMiniType<InboxItem>;
export const inbox = z.extend(items(inboxItem), { unread: z.array(text) });

const usageLine = z.extend(usage, { key: text });
export const usageReport = z.object({
  total: usage,
  byAgent: z.array(usageLine),
  byTree: z.array(usageLine),
  byModel: z.array(usageLine),
  byDay: z.array(usageLine),
  unanswered: z.array(text),
}) as unknown as z.ZodMiniType<UsageReport>;

export const found = z.object({ at: orNull(z.number()), next: orNull(z.number()) });

export const timeLine = z.object({
  items: z.array(
    z.object({
      kind: z.enum(TIME_LINE_KINDS),
      at: text,
      durationMs: orNull(z.number()),
      text,
      outcome: orNull(text),
      turn: orNull(z.number()),
      message: orNull(z.number()),
      workflowId: text,
      ...{ host: z.optional(text), session: z.optional(z.number()) },
    }),
  ),
  truncated: z.boolean(),
}) as unknown as z.ZodMiniType<TimeLine>;

/** `unanswered`: hosts whose state is not known. */
export const hostList = z.extend(items(answers.hostState), { unanswered: z.array(text) });
export const registry = z.object({
  tools: z.array(z.looseObject({ name: text })),
  servers: z.array(z.looseObject({ name: text, state: text })),
  faults: z.array(text),
}) as unknown as z.ZodMiniType<RegistryRecord>;

export const me = z.object({
  name: text,
  role: z.enum(ROLES),
  agents: z.array(text),
  expiresAt: orNull(text),
  release: z.object({ version: text }),
  namespace: text,
  temporalUi: orNull(text),
}) as unknown as z.ZodMiniType<Me>;

export const problem = z.extend(z.omit(answers.errorAnswer, { message: true, docs: true }), {
  type: text,
  title: text,
  status: z.int(),
  detail: text,
});
