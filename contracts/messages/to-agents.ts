// The messages of `agent`, and of its turns. Outside callers depend on their names: a change here is a breaking change.
import type { DismissRequest, RecoverRequest, SendRequest, StopRequest } from '../schemas/agent';
import type {
  AgentResult,
  AgentState,
  TakenAnswer,
  TakenRequest,
  TranscriptPage,
  TranscriptRequest,
  TurnState,
} from '../agents/agent';
import type { QuestionsSignal } from '../agents/questions';
import type { SpawnAgentsSignal } from '../schemas/agent-signals';
import type { AgentsWaitRequest, SpawnRequest } from '../schemas/agent';
import type {
  AgentEndedSignal,
  AgentsEndedSignal,
  AgentsSpawnedSignal,
  AgentsWaitResult,
  AwaitAgentsSignal,
} from '../agents/sub-agents';
import { recoverContent, rewindContent, sendContent, spawnContent } from '../message-content';
import type { ApproveRequest, DenyRequest } from '../schemas/approvals';
import type { ForSession } from '../tools/approvals';
import type { RewindRequest } from '../schemas/agent';
import type { RewindResult } from '../workspaces/rewinds';
import { query, signal, signalOrUpdate, update } from './message';

export const AGENT_MESSAGES = {
  send: signalOrUpdate<SendRequest, AgentResult>({
    name: 'send',
    from: 'anyone',
    does: 'One more message; the update answers with the turn\'s result, "interrupt" replaces the running turn',
    examples: [{ message: 'and now?' }, { message: 'no, rather this', mode: 'interrupt' }],
    request: { schema: 'sendSchema', what: 'The message' },
    answer: 'agentResult',
    content: sendContent,
  }),
  interrupt: signalOrUpdate<Record<string, never>, AgentState>({
    name: 'interrupt',
    from: 'anyone',
    does: 'End the turn before its next step; its tools finish, and the next message follows',
    examples: [{}],
    request: { schema: 'interruptSchema', what: 'The interrupt request' },
    answer: 'agentState',
    content: () => ['interrupt'],
  }),
  recover: signalOrUpdate<RecoverRequest, AgentState>({
    name: 'recover',
    from: 'anyone',
    does: 'End the turn, reset the sessions, keep the conversation',
    examples: [{ reason: 'stuck' }],
    request: { schema: 'recoverSchema', what: 'The recover request' },
    answer: 'agentState',
    content: recoverContent,
  }),
  rewind: signalOrUpdate<RewindRequest, RewindResult>({
    name: 'rewind',
    from: 'anyone',
    does: 'Bring back the files, the conversation or both as they were after a step; only between turns',
    examples: [{ to: 4 }, { to: 4, what: 'files', dryRun: true }],
    request: { schema: 'rewindSchema', what: 'The rewind request' },
    answer: 'rewindResult',
    content: rewindContent,
  }),
  stop: signal<StopRequest>({
    name: 'stop',
    from: 'anyone',
    does: 'End the turn, close the sessions, end the agent',
    examples: [{ reason: 'enough' }],
    request: { schema: 'stopSchema', what: 'The stop request' },
  }),
  dismiss: signal<DismissRequest>({
    name: 'dismiss',
    from: 'anyone',
    does: 'Put away that the last turn failed: it is no longer listed as waiting for a retry',
    examples: [{}, { turn: 3 }],
    request: { schema: 'dismissSchema', what: 'The dismissal' },
  }),
  spawn: update<SpawnRequest, { agentId: string }>({
    name: 'spawn',
    from: 'anyone',
    does: 'Start a sub-agent, answers with its id',
    examples: [{ key: 'k1', role: 'Planner', prompt: 'make a plan' }],
    request: { schema: 'spawnSchema', what: 'The sub-agent' },
    answer: 'spawned',
    content: spawnContent,
  }),
  waitForAgents: update<AgentsWaitRequest, AgentsWaitResult>({
    name: 'waitForAgents',
    from: 'anyone',
    does: 'Wait for sub-agents',
    examples: [{ agentIds: ['a-planner-0'], mode: 'all', timeoutMs: 60_000 }],
    request: { schema: 'agentsWaitSchema', what: 'The wait' },
    answer: 'agentsWaitResult',
  }),
  approve: signalOrUpdate<ForSession<ApproveRequest>, void>({
    name: 'approve',
    from: 'anyone',
    does: 'Approve a command or a script\'s call in a session, or without "session" a call of the running turn',
    examples: [{ session: 0 }, {}],
    request: { schema: 'agentApproveSchema', what: 'The approval' },
  }),
  deny: signalOrUpdate<ForSession<DenyRequest>, void>({
    name: 'deny',
    from: 'anyone',
    does: 'Deny a command or a script\'s call in a session, or without "session" a call of the running turn',
    examples: [{ session: 0 }, {}],
    request: { schema: 'agentDenySchema', what: 'The refusal' },
  }),
  state: query<undefined, AgentState>({
    name: 'state',
    from: 'anyone',
    does: 'What it is doing: status, turn, sessions, sub-agents, refused signals',
    answer: 'agentState',
  }),
  transcript: query<TranscriptRequest, TranscriptPage>({
    name: 'transcript',
    from: 'anyone',
    does: 'The messages of the turns that have ended, in pages',
    examples: [{}, { from: 0, limit: 100 }],
    request: { schema: 'transcriptSchema', what: 'The transcript request' },
    answer: 'transcriptPage',
  }),
  taken: query<TakenRequest, TakenAnswer>({
    name: 'taken',
    from: 'anyone',
    does: 'A hash of the message that was taken under an id; null if none was',
    examples: [{ id: 'm-1' }],
    request: { schema: 'takenSchema', what: 'The question' },
    answer: 'taken',
  }),
  awaitAgents: signal<AwaitAgentsSignal>({
    name: 'awaitAgents',
    from: 'a turn',
    does: 'asks to be told when sub-agents have ended',
    request: { schema: 'awaitAgentsSchema', what: 'The wait of a turn' },
  }),
  questions: signal<QuestionsSignal>({
    name: 'questions',
    from: 'a session or a turn',
    does: 'the approvals pending there',
    request: { schema: 'questionsSchema', what: 'The approvals of a session or a turn' },
  }),
  agentEnded: signal<AgentEndedSignal>({
    name: 'agentEnded',
    from: 'a sub-agent',
    does: 'it has ended',
    request: { schema: 'agentEndedSchema', what: 'The end of a sub-agent' },
  }),
  spawnAgents: signal<SpawnAgentsSignal>({
    name: 'spawnAgents',
    from: 'a turn',
    does: 'start sub-agents',
    request: { schema: 'spawnAgentsSchema', what: 'The sub-agents of a turn' },
  }),
};

/** A turn also takes `APPROVAL_MESSAGES`. */
export const TURN_MESSAGES = {
  state: query<undefined, TurnState>({
    name: 'state',
    from: 'anyone',
    does: 'What it is doing: step, since when, what it waits for, sessions, approvals',
    answer: 'turnState',
  }),
  transcript: query<TranscriptRequest, TranscriptPage>({
    ...AGENT_MESSAGES.transcript,
    does: 'The messages so far, in pages',
  }),
  interrupt: signal({
    name: 'interrupt',
    from: 'the agent',
    does: 'end before the next step',
  }),
  agentsEnded: signal<AgentsEndedSignal>({
    name: 'agentsEnded',
    from: 'the agent',
    does: 'the answer to awaitAgents',
  }),
  questions: signal<QuestionsSignal>({
    name: 'questions',
    from: 'the agent',
    does: 'the approvals pending in its sessions',
    request: { schema: 'questionsSchema', what: 'The approvals in its sessions' },
  }),
  agentsSpawned: signal<AgentsSpawnedSignal>({
    name: 'agentsSpawned',
    from: 'the agent',
    does: 'the answer to spawnAgents',
  }),
};
