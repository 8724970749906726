// What an agent's next run is given of the conversation: what the model still sees, or a summary if that is too large.
import { isCancellation, workflowInfo } from '@temporalio/workflow';
import type { AgentInput } from '../../../contracts/schemas/agent';
import type { Message, Usage } from '../../../contracts/agents/agent';
import { label } from '../../../contracts/text/labels';
import { jsonBytes } from '../../../contracts/payload-size';
import { usageOfFailure } from '../../../contracts/models/usage-of-failure';
import { carriedMessages, summarizedMessages } from '../../../contracts/agents/visible-messages';
import type { Transcript } from '../../turn/transcript';
import { compact } from './between-turns';
import { hasRoom, MAX_CARRIED_BYTES } from './conversation-record';

interface Carried {
  /** Null if the model could not summarize them, and the run has room to try that again after another turn. */
  messages: Message[] | null;
  /** The usage of the summary. */
  usage?: Usage | undefined;
  /** Why there is no summary of the model's. */
  fault?: unknown;
}

export class CarriedConversation {
  /** A summary of the first `count` messages. Others that came meanwhile go first, and it is not paid for again. */
  private summed: { count: number; messages: readonly Message[] } | null = null;

  /** @param sumsUp hears when a summary begins, which may take an hour, and when it has ended */
  constructor(
    private readonly agent: string,
    private readonly input: AgentInput,
    private readonly sumsUp: (isBusy: boolean) => void,
  ) {}

  async of({ messages, extent }: Pick<Transcript, 'messages' | 'extent'>): Promise<Carried> {
    const carried = carriedMessages(this.withSummary(messages));
    if (jsonBytes(carried) <= MAX_CARRIED_BYTES) return { messages: carried };
    this.sumsUp(true);
    const { text, ...rest } = await summaryOf(this.agent, this.input, extent).finally(() =>
      this.sumsUp(false),
    );
    // A provider that is away for some seconds must not cost the whole conversation.
    if (rest.fault !== undefined && hasRoom()) return { messages: null, ...rest };
    const summed = summarizedMessages(messages, text);
    this.summed = { count: messages.length, messages: summed };
    return { messages: summed, ...rest };
  }

  private withSummary(messages: readonly Message[]): readonly Message[] {
    const later = messages.slice(this.summed?.count);
    // These count the messages of the whole conversation.
    const isCounting = later.some(({ role }) => role === 'rewind' || role === 'summary');
    if (!this.summed || isCounting) return messages;
    return [...this.summed.messages, ...later];
  }
}

/** The run has grown by what the summary itself adds when its outcome is known. */
const ROOM_FOR_SUMMARY = 1.9;

async function summaryOf(
  agent: string,
  { model, dialect, instructions }: AgentInput,
  extent: Transcript['extent'],
): Promise<{ text: string } & Omit<Carried, 'messages'>> {
  const { workflowId, runId } = workflowInfo();
  const summary = label('sum up the conversation');
  const turn = { workflowId, runId, count: 0, bytes: 0 };
  const takesCut = hasRoom(ROOM_FOR_SUMMARY) ? {} : ({ takesCut: true } as const);
  const call = { agent, model, dialect, instructions, turn, earlier: { ...extent, runId }, ...takesCut };
  const place = `in the run ${runId} of ${workflowId}.`;
  try {
    const { text, isCut, usage } = await compact.executeWithOptions({ summary }, [call]);
    const cut = `[This summary was cut off at the length limit of the model's replies. The whole conversation before it is ${place}]`;
    return { text: isCut ? `${text}\n\n${cut}` : text, usage };
  } catch (fault) {
    if (isCancellation(fault)) throw fault;
    // The conversation continues without the model's summary, and says what was lost.
    const text = `The ${extent.count} messages before this one could not be summarized. They are ${place}`;
    return { text, usage: usageOfFailure(fault), fault };
  }
}
