// `quota`: counts what the models of all agents of a task queue use in a day. The limits are the workers': it only counts,
// each call once. The time is the server's: a day begins with the first call of it.
import { condition, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { countUse, dollars, type QuotaRecord } from '../../contracts/models/daily-quota';
import { QUOTA_MESSAGES as MESSAGES } from '../../contracts/messages/to-quotas';
import { Listener } from '../messages/listener';
import { messageGuard } from '../messages/message-guard';
import { continueInNextRun } from '../next-run';

const CONTINUE_AT_EVENTS = 2_000;

/** Lasts until it is cancelled. */
export async function quota(carried?: QuotaRecord): Promise<void> {
  let record: QuotaRecord = carried ?? { use: null, counted: [] };
  const signalled = (work: () => unknown): void => {
    try {
      work();
    } catch (err) {
      messageGuard().refused(err);
    }
  };
  const show = (): void => {
    const { use } = record;
    if (use) setCurrentDetails(`${use.day} (UTC): ${use.tokens} tokens, ${dollars(use.costUsd)}`);
  };
  const listener = new Listener({ admit: (parse) => parse(), signalled });
  listener.query(MESSAGES.state, () => record.use);
  listener.signal(MESSAGES.used, (use) => {
    record = countUse(record, use, Date.now());
    show();
  });
  show();
  await condition(
    () => workflowInfo().historyLength >= CONTINUE_AT_EVENTS || workflowInfo().continueAsNewSuggested,
  );
  // Every signal that has come is counted by now: handlers do not wait for anything.
  await continueInNextRun<typeof quota>(record);
}
