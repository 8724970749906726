// `agent`: the workflow of a conversation.
import { workflowInfo } from '@temporalio/workflow';
import type { AgentInput } from '../../contracts/schemas/agent';
import type { AgentResult } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { toFailure } from '../../contracts/errors/failure';
import { agentIdOf, checkedId } from '../../contracts/ids';
import { agentInputSchema } from '../../contracts/schemas/agent';
import { listen } from './agent-messages';
import { Conversation } from './conversation/conversation';
import type { ConversationRecord } from './conversation/conversation-record';
import { checked } from '../messages/refusal';

/** A task's result is its answer; a conversation ends with the result of its last turn. */
export async function agent(input?: AgentInput, carried?: ConversationRecord): Promise<AgentResult> {
  const settings = checked(agentInputSchema, 'The input of agent', input);
  const conversation = new Conversation(ownId(), settings, carried);
  listen(conversation);
  return conversation.live();
}

/** A plain error would fail the workflow task over and over; this ends the workflow instead. */
function ownId(): string {
  try {
    return checkedId('agent', agentIdOf(workflowInfo().workflowId));
  } catch (err) {
    throw err instanceof HoldfastError ? toFailure(err) : err;
  }
}
