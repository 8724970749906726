// `claim`: says which data folder serves a task queue. It does nothing: the claim is that it runs, under the queue's
// name. Cancelling or terminating it frees the queue.
import { condition, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { CLAIM_MEMO, placeOf, type ClaimFacts } from '../../contracts/sessions/claims';
import { inMarkdown } from '../../contracts/text/labels';

/** Lasts until it is cancelled or terminated. The claim is in its memo, which can be read without any worker. */
export async function claim(): Promise<void> {
  const facts = workflowInfo().memo?.[CLAIM_MEMO] as ClaimFacts | undefined;
  if (facts) setCurrentDetails(`Belongs to ${inMarkdown(placeOf(facts))}`);
  await condition(() => false);
}
