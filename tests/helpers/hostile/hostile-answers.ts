// What a hostile worker answers: each thing that a command reads of a workflow, with every field that its type has. A
// field that is added to a type has to be added here, or this does not compile.
import type { Comparison } from '../../../contracts/workspaces/requests-to-hosts';
import type { FileChanges } from '../../../contracts/workspaces/checkpoints';
import type { RewindResult } from '../../../contracts/workspaces/rewinds';
import type {
  AgentResult,
  AgentState,
  Message,
  Shell,
  ToolCall,
  ToolResult,
  TranscriptPage,
  TurnState,
} from '../../../contracts/agents/agent';
import type { HostState } from '../../../contracts/schemas/remote-hosts';
import type { OpenQuestion } from '../../../contracts/agents/questions';
import type { RegistryRecord } from '../../../contracts/tools/registry-record';
import type { CommandView, SessionState, WaitResult } from '../../../contracts/sessions/session';
import type { Wait } from '../../../contracts/agents/waits';
import type { WorkerRecord } from '../../../workers/process/worker-record';
import { SAID, TEXT, type Whole } from './hostile-texts';

export const NOW = '2026-01-02T03:04:05.000Z';
const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 3, costUsd: 4, pricedUsd: 5 };

export const VIEW: Whole<CommandView> = {
  session: 0,
  commandId: TEXT,
  state: 'exited',
  exitCode: 0,
  signal: TEXT,
  killedBy: { by: 'reset', reason: TEXT },
  output: SAID,
  from: 0,
  to: 10,
  omittedBytes: 5,
  droppedBytes: 3,
  epoch: 1,
  freshShell: true,
  yielded: 'max',
  waiting: { echo: true, certainty: 'hint', since: NOW },
  treeKill: 'pid-namespace',
  sandbox: 'bubblewrap',
  degraded: TEXT,
  survivors: [7],
  missing: [{ package: TEXT, module: TEXT, line: 1 }],
  durationMs: 1,
  unseen: true,
  folderId: TEXT,
};

export const QUESTION: Whole<OpenQuestion> = {
  id: TEXT,
  workflowId: TEXT,
  what: TEXT,
  hash: TEXT,
  reasons: [{ rule: TEXT, found: TEXT }],
  askedAt: NOW,
  expiresAt: NOW,
  agent: TEXT,
  place: { host: TEXT, cwd: TEXT },
  runs: TEXT,
  values: [{ name: TEXT, text: TEXT, bytes: 1, omitted: 1 }],
};

export const SESSION: Whole<SessionState> = {
  agent: TEXT,
  host: TEXT,
  session: 0,
  status: 'running',
  epoch: 1,
  cwd: TEXT,
  command: { id: TEXT, runtime: 'terminal', startedAt: NOW, firstLine: TEXT },
  view: VIEW,
  readers: { [TEXT]: 1 },
  refused: [TEXT],
  approvals: [QUESTION],
  toolCalls: { made: 1, open: [{ id: TEXT, tool: TEXT }] },
};

export const RESULT: Whole<AgentResult> = {
  answer: SAID,
  reason: 'model_error',
  error: { code: 'model_failed', message: TEXT, facts: { model: TEXT, reason: TEXT, got: TEXT }, docs: TEXT },
  steps: 1,
  output: { [TEXT]: TEXT },
  usage,
  workspace: { base: TEXT, hash: TEXT, counts: { added: 1, modified: 1, deleted: 1 }, folder: TEXT },
};

const WAIT: Whole<Wait> = { for: 'input', since: NOW, workflowId: TEXT };
const SHELL: Whole<Shell> = { host: TEXT, session: 0, workflowId: TEXT };

const limits = {
  steps: 1,
  wallMs: 1,
  formatRepairs: 1,
  toolCalls: 1,
  tokens: 1,
  costUsd: 1,
  agents: 1,
  depth: 1,
};

export const AGENT: Whole<AgentState> = {
  agent: TEXT,
  mode: 'conversation',
  status: 'idle',
  model: TEXT,
  host: TEXT,
  turns: 1,
  currentTurn: TEXT,
  queued: 1,
  lastResult: RESULT,
  sessions: [0],
  agents: [
    {
      agentId: TEXT,
      role: TEXT,
      status: 'ended',
      since: NOW,
      isCounted: true,
      workspace: 'own',
      result: RESULT,
    },
  ],
  usage,
  runId: TEXT,
  messages: 1,
  carried: 1,
  continuedFrom: TEXT,
  settings: {
    model: TEXT,
    dialect: 'native',
    instructions: TEXT,
    context: [TEXT],
    outputSchema: { type: TEXT },
    host: TEXT,
    cwd: TEXT,
    remoteHost: TEXT,
    tenant: TEXT,
    tools: [TEXT],
    limits,
    yield: { firstOutputMs: 1, betweenOutputMs: 1, maxMs: 1, promptMs: 1 },
  },
  refused: [TEXT],
  approvals: [QUESTION],
  since: NOW,
  waits: WAIT,
  shells: [SHELL],
};

const TURN: Whole<TurnState> = {
  agent: TEXT,
  turn: 1,
  model: TEXT,
  step: 1,
  maxSteps: 2,
  doing: TEXT,
  since: NOW,
  headline: TEXT,
  waits: WAIT,
  sessions: [{ ...SHELL, calledAt: 1, seenAt: 1, fact: TEXT }],
  approvals: [QUESTION],
  usage,
  messages: 1,
};

const CALL = { callId: TEXT, tool: TEXT, args: { runtime: TEXT, session: 1, code: SAID, [TEXT]: TEXT } };
const DECLARED: ToolCall = {
  ...CALL,
  facts: {
    session: 1,
    forPerson: true,
    roles: { runtime: 'runtime', session: 'session', code: 'code', typed: TEXT },
  },
};
const TOOL: ToolResult = {
  ...{ callId: TEXT, tool: TEXT, content: SAID, isError: true },
  session: { session: 1, state: 'exited', signal: TEXT, killedBy: { by: 'reset', reason: TEXT } },
};

const MESSAGES: Record<Message['role'], Message[]> = {
  user: [{ role: 'user', text: SAID }],
  context: [{ role: 'context', text: SAID }],
  summary: [{ role: 'summary', text: SAID, covers: 1 }],
  repair: [{ role: 'repair', text: SAID }],
  tool: [{ role: 'tool', ...TOOL }],
  assistant: [
    { role: 'assistant', text: SAID, parsed: { kind: 'malformed', problem: TEXT } },
    {
      role: 'assistant',
      parsed: { kind: 'calls', calls: [CALL, DECLARED], headline: SAID, thoughts: [SAID], prose: SAID },
    },
    { role: 'assistant', parsed: { kind: 'answer', answer: SAID } },
  ],
  checkpoint: [
    { role: 'checkpoint', turn: 1, step: 1, outcome: { state: 'missing', reason: TEXT } },
    {
      role: 'checkpoint',
      ...{ turn: 1, step: 1 },
      outcome: {
        ...{ state: 'kept', hash: TEXT, files: 1, bytes: 1 },
        changes: { added: 1, modified: 0, deleted: 0 },
        skipped: { count: 1, first: [{ path: TEXT, why: TEXT }] },
      },
    },
  ],
  rewind: [{ role: 'rewind', step: 2, to: 1, id: TEXT, keeps: 1 }],
};

const messages = Object.values(MESSAGES).flat();
const TRANSCRIPT: TranscriptPage = { messages, total: messages.length };

export const HOST: Whole<HostState> = {
  host: TEXT,
  status: 'offline',
  since: NOW,
  reason: TEXT,
  facts: {
    instance: TEXT,
    version: TEXT,
    protocol: 1,
    access: 'read-write',
    root: TEXT,
    treeKill: 'pid-namespace',
    sandbox: TEXT,
    capabilities: [TEXT],
    listens: { address: TEXT, fingerprint: TEXT },
  },
  namespace: TEXT,
  refused: [TEXT],
};

const WAITED: Whole<WaitResult> = { met: true, sessions: [{ reason: 'exit', view: VIEW }] };

/** What a worker says of itself in its data folder; whose process it is, a test says. */
export const WORKER: Whole<Omit<WorkerRecord, 'identity'>> = {
  release: { version: TEXT, folder: TEXT },
  address: TEXT,
  namespace: TEXT,
  host: TEXT,
  queue: TEXT,
  cwd: TEXT,
  workdir: TEXT,
  tools: [TEXT],
  config: TEXT,
  pollingSince: 1,
};

/** As a worker writes it down of its tools, those of MCP servers among them. */
export const REGISTRY: Whole<RegistryRecord> = {
  tools: [
    {
      name: TEXT,
      description: TEXT,
      parameters: { type: 'object', properties: { [TEXT]: { type: TEXT, description: TEXT } } },
      result: { type: TEXT, description: TEXT },
      effects: 'once',
      runsOn: 'anywhere',
    },
  ],
  servers: [{ name: TEXT, state: 'down', tools: 1, fault: TEXT }],
  faults: [TEXT],
};

/** By the name of the query or the update. */
const CHANGES: Whole<FileChanges> = {
  counts: { added: 1, modified: 1, deleted: 1 },
  paths: [{ path: TEXT, kind: 'modified', insertions: 1, deletions: 1 }],
  omitted: 1,
};
const REWOUND: Whole<RewindResult> = {
  ...{ step: 3, to: 1, messages: 1, running: [1] },
  files: {
    ...{ hash: TEXT, before: TEXT, changes: CHANGES },
    notRestored: { count: 2, first: [{ path: TEXT, why: TEXT }] },
    movedAside: { count: 2, first: [{ path: TEXT, to: TEXT }] },
  },
};

export const ANSWERS: Readonly<Record<string, unknown>> = {
  'agent state': AGENT,
  'agent transcript': TRANSCRIPT,
  'turn state': TURN,
  'turn transcript': TRANSCRIPT,
  'turn approvals': [QUESTION],
  'execSession approvals': [QUESTION],
  'execSession state': SESSION,
  'host state': HOST,
  'agent send': RESULT,
  'agent recover': AGENT,
  'agent interrupt': AGENT,
  'execSession wait': WAITED,
  'agent start': RESULT,
  'agent rewind': REWOUND,
  'compareCheckpoints end': { changes: CHANGES, text: SAID, isCut: true } satisfies Whole<Comparison>,
  'rewindFiles end': { files: REWOUND.files, running: [1] },
};
