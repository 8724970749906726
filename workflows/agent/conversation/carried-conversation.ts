// What an agent's next run is given of the conversation: what the model still sees, or a summary if that is too large.
import { isCancellation, patched, workflowInfo } from '@temporalio/workflow';
import type { AgentInput, Message, Usage } from '../../../contracts/agents/agent';
import { label } from '../../../contracts/text/labels';
import { jsonBytes } from '../../../contracts/payload-size';
import { carriedMessages, summarizedMessages } from '../../../contracts/agents/visible-messages';
import { compact } from './between-turns';
import { hasRoom, MAX_CARRIED_BYTES } from './conversation-record';

interface Carried {
  /** Null if the model could not summarize them, and the run has room to try that again after another turn. */
  messages: Message[] | null;
  /** Of the summary. */
  usage?: Usage | undefined;
  /** Why there is no summary of the model's. */
  fault?: unknown;
}

export async function carriedConversation(
  agent: string,
  input: AgentInput,
  messages: readonly Message[],
): Promise<Carried> {
  const carried = carriedMessages(messages);
  if (jsonBytes(carried) <= MAX_CARRIED_BYTES) return { messages: carried };
  const { text, ...rest } = await summaryOf(agent, input, messages.length);
  // In earlier releases, a provider that was away for some seconds cost the whole conversation.
  if (rest.fault !== undefined && hasRoom() && patched('summaries-are-tried-again'))
    return { messages: null, ...rest };
  return { messages: summarizedMessages(messages, text), ...rest };
}

async function summaryOf(
  agent: string,
  { model, dialect, instructions }: AgentInput,
  count: number,
): Promise<{ text: string } & Omit<Carried, 'messages'>> {
  const { workflowId, runId } = workflowInfo();
  const summary = label('sum up the conversation');
  const turn = { workflowId, runId, count: 0 };
  const call = { agent, model, dialect, instructions, turn, earlier: { count, runId } };
  try {
    return await compact.executeWithOptions({ summary }, [call]);
  } catch (fault) {
    if (isCancellation(fault)) throw fault;
    // The conversation continues without the model's summary, and says what was lost.
    const text = `The ${count} messages before this one could not be summarized. They are in the run ${runId} of ${workflowId}.`;
    return { text, fault };
  }
}
