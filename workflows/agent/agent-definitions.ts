// The messages of `agent` and `turn`, as Temporal definitions.
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type {
  AgentResult,
  AgentState,
  RecoverRequest,
  SendRequest,
  TranscriptPage,
  TranscriptRequest,
  TurnState,
} from '../../contracts/agents/agent';
import type { ApproveRequest, DenyRequest, ForSession } from '../../contracts/tools/approvals';
import { AGENT_MESSAGES as NAMES, APPROVAL_MESSAGES, TURN_MESSAGES } from '../../contracts/messages';
import type { QuestionsSignal } from '../../contracts/agents/questions';
import type {
  AgentEndedSignal,
  AgentsEndedSignal,
  AgentsWaitRequest,
  AgentsWaitResult,
  AwaitAgentsSignal,
  SpawnRequest,
} from '../../contracts/agents/sub-agents';

export interface StopRequest {
  reason?: string;
}

export const sendUpdate = defineUpdate<AgentResult, [SendRequest?]>(NAMES.send);
export const sendSignal = defineSignal<[SendRequest?]>(NAMES.send);
export const stopSignal = defineSignal<[StopRequest?]>(NAMES.stop);
export const recoverSignal = defineSignal<[RecoverRequest?]>(NAMES.recover);
export const recoverUpdate = defineUpdate<AgentState, [RecoverRequest?]>(NAMES.recover);
export const interruptAgentSignal = defineSignal<[object?]>(NAMES.interrupt);
export const interruptAgentUpdate = defineUpdate<AgentState, [object?]>(NAMES.interrupt);
export const spawnUpdate = defineUpdate<{ agentId: string }, [SpawnRequest?]>(NAMES.spawn);
export const waitForAgentsUpdate = defineUpdate<AgentsWaitResult, [AgentsWaitRequest?]>(NAMES.waitForAgents);
export const awaitAgentsSignal = defineSignal<[AwaitAgentsSignal?]>(NAMES.awaitAgents);
export const agentEndedSignal = defineSignal<[AgentEndedSignal?]>(NAMES.agentEnded);
export const interruptSignal = defineSignal(TURN_MESSAGES.interrupt);
export const agentsEndedSignal = defineSignal<[AgentsEndedSignal?]>(TURN_MESSAGES.agentsEnded);
export const questionsSignal = defineSignal<[QuestionsSignal?]>(NAMES.questions);
export const approveAgentSignal = defineSignal<[ForSession<ApproveRequest>?]>(APPROVAL_MESSAGES.approve);
export const approveAgentUpdate = defineUpdate<void, [ForSession<ApproveRequest>?]>(
  APPROVAL_MESSAGES.approve,
);
export const denyAgentSignal = defineSignal<[ForSession<DenyRequest>?]>(APPROVAL_MESSAGES.deny);
export const denyAgentUpdate = defineUpdate<void, [ForSession<DenyRequest>?]>(APPROVAL_MESSAGES.deny);
export const stateQuery = defineQuery<AgentState>(NAMES.state);
export const turnStateQuery = defineQuery<TurnState>(NAMES.state);
export const transcriptQuery = defineQuery<TranscriptPage, [TranscriptRequest?]>(NAMES.transcript);
