// For workers that want nothing of what workflows report to the one that runs them: the SDK logs an error about a sink that it
// does not know.
import type { InjectedSinks } from '@temporalio/worker';
import { RECORDED_MESSAGES, type RecordedMessagesSinks } from '../contracts/agents/recorded-messages';
import { CANCELLED_CALLS, type CancelledCallsSinks } from '../contracts/cancellations';
import type { SpanSinks } from '../workflows/messages/traced';

export const NO_SINKS: InjectedSinks<RecordedMessagesSinks & CancelledCallsSinks & SpanSinks> = {
  [RECORDED_MESSAGES]: { add: { fn: () => undefined }, end: { fn: () => undefined } },
  [CANCELLED_CALLS]: { report: { fn: () => undefined } },
  holdfastSpans: { report: { fn: () => undefined } },
};
