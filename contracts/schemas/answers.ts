// Shapes of what others read: results of workflows, and answers to updates and queries. For docs/schemas, for tests, and
// for clients, which check those of hosts. The types are in contracts/: this compiles only if both say the same.
import { DIALECTS } from '../models/dialect-names';
import type {
  AgentResult,
  AgentState,
  Message,
  TakenAnswer,
  TranscriptPage,
  TurnResult,
  TurnState,
} from '../agents/agent';
import type { Approval } from '../tools/approvals';
import { ERROR_CODES, type ErrorCode, type HoldfastError } from '../errors/holdfast-error';
import type { JsonSchema, JsonValue } from '../json';
import type { OpenQuestion } from '../agents/questions';
import { WAITS } from '../agents/waits';
import { RUNTIMES, type CommandView, type SessionState, type WaitResult } from '../sessions/session';
import type { AgentsWaitResult } from '../agents/sub-agents';
import type { RewindResult } from '../workspaces/rewinds';
import {
  changeCounts,
  checkpointMessage,
  leftWorkspace,
  rewindMessage,
  rewindResult,
} from './checkpoint-shapes';
import { imageRef } from './image-ref';
import { hostState, treeKill } from './remote-hosts';
import { z } from './zod';

const text = z.string();
const time = z.string(); // ISO 8601
const count = z.int();
const texts = z.array(text);
const orNull = <T extends z.core.SomeType>(schema: T): z.ZodMiniNullable<T> => z.nullable(schema);
const json = z.custom<JsonValue>();

const usage = z.object({
  inputTokens: count,
  outputTokens: count,
  cachedTokens: count,
  costUsd: orNull(z.number()),
  pricedUsd: z.optional(z.number()),
});
const code = z.enum(ERROR_CODES as [ErrorCode, ...ErrorCode[]]);
const facts = z.readonly(z.record(text, z.union([text, z.number(), z.boolean(), z.null(), z.undefined()])));
const turnError = z.object({ code, message: text, facts, docs: text });
export const errorAnswer = z.object({
  code,
  message: text,
  next: text,
  retryable: z.boolean(),
  effect: z.enum(['none', 'possible', 'happened']),
  facts,
  docs: text,
});

const reason = z.enum([
  'answered',
  'step_limit',
  'time_limit',
  'size_limit',
  'token_limit',
  'cost_limit',
  'format_error',
  'model_error',
  'interrupted',
  'recovered',
  'stopped',
]);
const result = {
  answer: orNull(text),
  reason,
  error: orNull(turnError),
  steps: count,
  output: z.optional(json),
  usage: z.optional(usage),
  workspace: z.optional(leftWorkspace),
};
export const agentResult = z.object(result);

const place = z.object({ host: text, cwd: orNull(text) });
const reasons = z.array(z.object({ rule: text, found: text }));
const shownValue = z.object({ name: text, text, bytes: count, omitted: count });
const approvalFields = {
  id: text,
  what: text,
  hash: text,
  reasons,
  askedAt: time,
  expiresAt: time,
  agent: text,
  place,
  runs: text,
  values: z.array(shownValue),
};
export const approval = z.object(approvalFields);
export const approvalList = z.array(approval);
const openQuestion = z.object({ ...approvalFields, workflowId: text });

const toolHold = z.object({
  hash: text,
  reasons,
  expiresMs: z.number(),
  place,
  what: text,
  secret: z.optional(z.boolean()),
  values: z.optional(z.array(shownValue)),
  askedAt: z.optional(z.number()),
});
const commandState = z.enum(['exited', 'running', 'waiting_input', 'lost']);
const killedBy = z.object({
  by: z.enum(['signal', 'reset', 'closed', 'cancelled', 'host_lost']),
  reason: orNull(text),
});
const yieldReason = z.enum(['first_output', 'between_output', 'max', 'waiting_input']);
const sessionFacts = z.object({
  session: count,
  state: commandState,
  commandId: z.optional(orNull(text)),
  exitCode: z.optional(orNull(count)),
  signal: z.optional(orNull(text)),
  killedBy: z.optional(orNull(killedBy)),
  yielded: z.optional(orNull(yieldReason)),
  waiting: z.optional(orNull(z.object({ echo: z.boolean() }))),
});
const roles = z.object({
  runtime: z.optional(text),
  session: z.optional(text),
  code: z.optional(text),
  typed: z.optional(text),
});
const callFacts = z.object({
  session: z.optional(count),
  forPerson: z.optional(z.literal(true)),
  roles: z.optional(roles),
});
const toolCall = z.object({
  callId: text,
  tool: text,
  args: z.record(text, z.unknown()),
  runsOn: z.optional(z.enum(['host', 'turn'])),
  needs: z.optional(texts),
  repaired: z.optional(text),
  hold: z.optional(toolHold),
  denied: z.optional(text),
  facts: z.optional(callFacts),
});
const parsedReply = z.union([
  z.object({ kind: z.literal('answer'), answer: text, output: z.optional(json) }),
  z.object({
    kind: z.literal('calls'),
    calls: z.array(toolCall),
    headline: orNull(text),
    thoughts: texts,
    prose: text,
  }),
  z.object({ kind: z.literal('malformed'), problem: text }),
]);
export { hostState, rewindResult };
export const message = z.union([
  z.object({ role: z.literal('user'), text }),
  z.object({ role: z.literal('context'), text }),
  z.object({
    role: z.literal('assistant'),
    text: z.optional(text),
    parsed: parsedReply,
    usage: z.optional(usage),
    step: z.optional(count),
    extras: z.optional(z.object({ provider: text, data: z.readonly(z.record(text, z.unknown())) })),
  }),
  z.object({
    role: z.literal('tool'),
    callId: text,
    tool: text,
    content: text,
    isError: z.boolean(),
    value: z.optional(json),
    session: z.optional(sessionFacts),
    images: z.optional(z.array(imageRef)),
  }),
  z.object({ role: z.literal('repair'), text }),
  z.object({ role: z.literal('summary'), text, covers: count }),
  checkpointMessage,
  rewindMessage,
]);
export const transcriptPage = z.object({ messages: z.array(message), total: count });
export const turnResult = z.object({
  ...result,
  messages: z.array(message),
  sessions: z.array(count),
  calls: z.optional(count),
  cutStep: z.optional(count),
});

const wait = z.object({
  for: z.enum(WAITS),
  since: time,
  workflowId: text,
});
const shell = { host: text, session: count, workflowId: text };
const few = z.optional(z.number());
const limits = z.object({
  steps: few,
  wallMs: few,
  formatRepairs: few,
  toolCalls: few,
  tokens: few,
  costUsd: few,
  agents: few,
  depth: few,
});
const yieldSettings = z.object({ firstOutputMs: few, betweenOutputMs: few, maxMs: few, promptMs: few });
const settings = z.object({
  model: text,
  dialect: z.optional(z.enum(DIALECTS)),
  instructions: z.optional(text),
  context: z.optional(texts),
  outputSchema: z.optional(z.custom<JsonSchema>()),
  host: z.optional(text),
  cwd: z.optional(text),
  remoteHost: z.optional(text),
  tenant: z.optional(text),
  tools: z.optional(texts),
  limits: z.optional(limits),
  yield: z.optional(yieldSettings),
});
const subAgent = z.object({
  ...{ agentId: text, role: text },
  status: z.enum(['running', 'ended']),
  since: time,
  isCounted: z.boolean(),
  workspace: z.optional(z.literal('own')),
  result: orNull(agentResult),
});
export const agentState = z.object({
  agent: text,
  mode: z.enum(['task', 'conversation']),
  status: z.enum(['idle', 'working', 'stopping', 'ended']),
  model: text,
  host: text,
  turns: count,
  currentTurn: orNull(text),
  queued: count,
  lastResult: orNull(agentResult),
  sessions: z.array(count),
  agents: z.array(subAgent),
  usage: orNull(usage),
  runId: text,
  messages: count,
  carried: count,
  continuedFrom: orNull(text),
  settings,
  refused: texts,
  approvals: z.array(openQuestion),
  since: time,
  waits: orNull(wait),
  shells: z.array(z.object(shell)),
});
export const turnState = z.object({
  agent: text,
  turn: count,
  model: text,
  step: count,
  maxSteps: count,
  doing: text,
  since: time,
  headline: orNull(text),
  waits: orNull(wait),
  sessions: z.array(z.object({ ...shell, calledAt: count, seenAt: orNull(count), fact: orNull(text) })),
  approvals: z.array(openQuestion),
  usage: orNull(usage),
  messages: count,
});
export const spawned = z.object({ agentId: text });
export const taken = z.object({ hash: z.nullable(text) });
const outcome = z.union([
  z.object({ role: text, status: z.literal('running') }),
  z.object({
    ...{ role: text, status: z.literal('ended') },
    answer: orNull(text),
    reason,
    error: orNull(turnError),
    steps: count,
    changes: z.optional(changeCounts),
    workspace: z.optional(z.literal('not_left')),
    folder: z.optional(text),
  }),
]);
export const agentsWaitResult = z.object({
  results: z.record(text, outcome),
  timedOut: z.boolean(),
  usage: z.optional(usage),
});

export const commandView = z.object({
  session: count,
  commandId: orNull(text),
  state: commandState,
  exitCode: orNull(count),
  signal: orNull(text),
  killedBy: orNull(killedBy),
  output: text,
  from: count,
  to: count,
  omittedBytes: count,
  droppedBytes: z.optional(count),
  epoch: count,
  freshShell: z.boolean(),
  yielded: orNull(yieldReason),
  waiting: orNull(
    z.object({
      echo: z.boolean(),
      certainty: z.enum(['certain', 'likely', 'hint']),
      since: z.optional(time),
    }),
  ),
  treeKill,
  sandbox: z.optional(z.literal('bubblewrap')),
  degraded: orNull(text),
  survivors: z.array(count),
  missing: z.optional(z.array(z.object({ module: text, line: count, package: text }))),
  durationMs: z.number(),
  unseen: z.optional(z.boolean()),
  folderId: z.optional(text),
});
export const lastView = orNull(commandView);
export const waitResult = z.object({
  met: z.boolean(),
  sessions: z.array(
    z.object({
      reason: z.enum(['exit', 'output', 'idle', 'needs_input', 'pattern', 'timeout']),
      view: commandView,
    }),
  ),
});
export const sessionState = z.object({
  agent: text,
  host: text,
  session: count,
  status: z.enum(['idle', 'running', 'waiting_input', 'waiting_approval', 'draining', 'closed']),
  epoch: count,
  cwd: orNull(text),
  command: orNull(z.object({ id: text, runtime: z.enum(RUNTIMES), startedAt: time, firstLine: text })),
  view: lastView,
  readers: z.record(text, count),
  refused: texts,
  approvals: approvalList,
  toolCalls: z.object({ made: count, open: z.array(z.object({ id: text, tool: text })) }),
});

/** With every key required: a type is assignable to another that lacks one of its optional keys. */
type Full<T> = T extends (infer E)[]
  ? Full<E>[]
  : T extends object
    ? { [K in keyof T]-?: Full<T[K]> | (undefined extends T[K] ? undefined : never) }
    : T;
type Same<S extends z.core.SomeType, T> = [Full<z.infer<S>>, Full<T>] extends [Full<T>, Full<z.infer<S>>]
  ? true
  : 'the schema differs from the type';

/** A schema that differs from its type does not compile here. */
export const AS_TYPED: {
  errorAnswer: Same<typeof errorAnswer, ReturnType<HoldfastError['toJSON']>>;
  agentResult: Same<typeof agentResult, AgentResult>;
  agentState: Same<typeof agentState, AgentState>;
  message: Same<typeof message, Message>;
  transcriptPage: Same<typeof transcriptPage, TranscriptPage>;
  taken: Same<typeof taken, TakenAnswer>;
  turnResult: Same<typeof turnResult, TurnResult>;
  turnState: Same<typeof turnState, TurnState>;
  approval: Same<typeof approval, Approval>;
  openQuestion: Same<typeof openQuestion, OpenQuestion>;
  agentsWaitResult: Same<typeof agentsWaitResult, AgentsWaitResult>;
  commandView: Same<typeof commandView, CommandView>;
  waitResult: Same<typeof waitResult, WaitResult>;
  sessionState: Same<typeof sessionState, SessionState>;
  rewindResult: Same<typeof rewindResult, RewindResult>;
} = {
  errorAnswer: true,
  agentResult: true,
  agentState: true,
  message: true,
  transcriptPage: true,
  taken: true,
  turnResult: true,
  turnState: true,
  approval: true,
  openQuestion: true,
  agentsWaitResult: true,
  commandView: true,
  waitResult: true,
  sessionState: true,
  rewindResult: true,
};
