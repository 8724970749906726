// The messages of `agent` and `turn`, as Temporal definitions.
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AgentResult, AgentState, TranscriptPage, TranscriptRequest } from '../contracts/agent';
import { AGENT_MESSAGES as NAMES } from '../contracts/messages';

export interface SendRequest {
  message: string;
}
export interface StopRequest {
  reason?: string;
}

export const sendUpdate = defineUpdate<AgentResult, [SendRequest?]>(NAMES.send);
export const sendSignal = defineSignal<[SendRequest?]>(NAMES.send);
export const stopSignal = defineSignal<[StopRequest?]>(NAMES.stop);
export const stateQuery = defineQuery<AgentState>(NAMES.state);
export const transcriptQuery = defineQuery<TranscriptPage, [TranscriptRequest?]>(NAMES.transcript);
