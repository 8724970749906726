// What a conversation takes along when it continues as new.
import { workflowInfo } from '@temporalio/workflow';
import type { AgentResult, Message, Usage } from '../contracts/agent';
import type { Approval } from '../contracts/approvals';
import type { SubAgentRecord } from '../contracts/sub-agents';
import { fitText, jsonBytes } from '../contracts/payload-size';

export interface TakenMessage {
  id: string;
  hash: string;
  /** Of the last ones only. */
  result?: AgentResult;
}

export interface ConversationRecord {
  /** What the model still sees. */
  messages: Message[];
  turns: number;
  sessions: number[];
  agents: SubAgentRecord[];
  /** Messages that came by signal and wait. */
  queue: string[];
  lastResult: AgentResult | null;
  usage: Usage | null;
  refused: string[];
  /** By the ids of messages; absent in records of 0.2.0. */
  taken?: TakenMessage[];
  /** Of sessions, which may outlast a turn; absent in records before 0.3. */
  questions?: Record<string, Approval[]>;
}

export const newConversation = (): ConversationRecord => ({
  messages: [],
  turns: 0,
  sessions: [],
  agents: [],
  queue: [],
  lastResult: null,
  usage: null,
  refused: [],
});

/** Of a turn that has nothing to say. */
export const STOPPED: AgentResult = { answer: null, reason: 'stopped', error: null, steps: 0 };

/** Replay reads all of a history again: beyond this it costs whoever waits. */
const CONTINUE_AT_EVENTS = 2_000;
/** The server ends a workflow at 50 MB, and loads all of it for a replay. */
const CONTINUE_AT_BYTES = 8_000_000;

export function isLong(): boolean {
  const { historyLength, historySize, continueAsNewSuggested } = workflowInfo();
  return continueAsNewSuggested || historyLength > CONTINUE_AT_EVENTS || historySize > CONTINUE_AT_BYTES;
}

/** Messages that need no compaction to be taken along. */
export const MAX_CARRIED_BYTES = 900_000;
/** With them, and with the agent's input, it is one payload, of 2 MB at the most. */
const MAX_REST_BYTES = 700_000;
const MAX_RESULT_BYTES = 200_000;

/** The last result as the next run tells it: its beginning and end are enough, the messages hold the whole. */
export function carriedResult({ output, ...result }: AgentResult, maxBytes = MAX_RESULT_BYTES): AgentResult {
  const isSmall = output !== undefined && jsonBytes(output) <= maxBytes;
  const answer = result.answer && fitText(result.answer, maxBytes);
  return { ...result, answer, ...(isSmall && { output }) };
}

/** Whether what goes along beside the messages fits into one payload with them. */
export const fits = (record: ConversationRecord): boolean =>
  jsonBytes({ ...record, messages: [] }) <= MAX_REST_BYTES;
