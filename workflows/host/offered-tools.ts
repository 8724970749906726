// `offeredTools`: asks the agents' worker which of its tools scripts on a host without agents may call. A separate, short
// workflow: the host reaches the agents' worker in no other way.
import { proxyActivities } from '@temporalio/workflow';
import type { OfferActivities } from '../../contracts/activities';
import type { OfferRequest, ToolsOffer } from '../../contracts/tools/offered-tools';
import { offerRequestSchema } from '../../contracts/schemas/tools';
import { checked } from '../messages/refusal';

const { offerTools } = proxyActivities<OfferActivities>({
  startToCloseTimeout: '10s',
  retry: { maximumAttempts: 5, initialInterval: '500ms' },
});

export async function offeredTools(input?: OfferRequest): Promise<ToolsOffer> {
  return offerTools(checked(offerRequestSchema, 'The input of offeredTools', input));
}
