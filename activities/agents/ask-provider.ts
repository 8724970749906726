// One reply of a provider, which may be anyone's code.
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { checkedReply } from '../../models/checked-reply';
import type { ModelProvider, ModelRequest, RawReply } from '../../models/provider';

/**
 * A provider's fault that the catalogue does not know, for example of a network, may pass: with the pauses between them, this
 * many attempts take two minutes. The catalogue's own errors say whether they may pass, and these are asked again for as
 * long as the turn lasts.
 */
export const MAX_ATTEMPTS = 10;

export interface AskedProvider {
  /** As `provider:name`. */
  model: string;
  provider: ModelProvider;
  /** The number of the call's attempt; the first is 1. */
  attempt: number;
}

/** Throws what the provider throws, and `model_failed` for a reply that cannot be used and after the last attempt. */
export async function askProvider(
  { model, provider, attempt }: AskedProvider,
  request: ModelRequest,
): Promise<RawReply> {
  let reply: unknown;
  try {
    reply = await provider.reply(request);
  } catch (err) {
    if (err instanceof HoldfastError || request.signal.aborted || attempt < MAX_ATTEMPTS) throw err;
    const reason = `the provider of ${model} failed at attempt ${attempt}, the last one: ${reasonOf(err)}`;
    throw new HoldfastError('model_failed', { reason });
  }
  return checkedReply(model, reply);
}
