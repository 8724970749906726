// A transcript whose messages this worker keeps for model calls.
import { proxySinks } from '@temporalio/workflow';
import type { RecordedMessagesSinks } from '../../contracts/agents/recorded-messages';
import { Transcript } from './transcript';

const { recordedMessages } = proxySinks<RecordedMessagesSinks>();

export const recordedTranscript = (): Transcript =>
  new Transcript((...added) => recordedMessages.add(...added));

/** The worker needs to keep nothing of this run any more. */
export const transcriptEnded = (): void => recordedMessages.end();
