// A model call with the images of its conversation. An image that a provider refuses would fail every later call of the
// conversation too, so the model is then asked without them.
import type { VisibleMessage } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Dialect } from '../../models/dialects/dialect';
import type { ModelRequest, RawReply } from '../../models/provider';
import { askProvider, type AskedProvider } from './ask-provider';
import { CANNOT_SEE, imagesInWords, visibleImages, type ReadImage } from '../../models/visible-images';

export interface Asking extends AskedProvider {
  dialect: Dialect;
  /** What the model sees of the conversation. */
  messages: readonly VisibleMessage[];
  read: ReadImage;
}

/** Whether its model can be shown images. */
export const canSee = ({ provider, dialect }: Pick<Asking, 'provider' | 'dialect'>): boolean =>
  provider.seesImages === true && dialect.isNative === true;

export async function askWithImages(
  asking: Asking,
  request: Omit<ModelRequest, 'messages' | 'images'>,
): Promise<RawReply> {
  const { dialect, messages, read } = asking;
  const ask = async ({
    messages: shown,
    images,
  }: Awaited<ReturnType<typeof visibleImages>>): Promise<RawReply> =>
    askProvider(asking, {
      ...request,
      messages: dialect.messages(shown),
      ...(images.size > 0 && { images }),
    });
  if (!canSee(asking)) return ask(imagesInWords(messages, CANNOT_SEE));
  const visible = await visibleImages(messages, read, request.signal);
  try {
    return await ask(visible);
  } catch (err) {
    const isRefused = err instanceof HoldfastError && err.code === 'model_bad_request';
    if (!isRefused || visible.images.size === 0) throw err;
    return ask(imagesInWords(messages, `the provider refused it: ${String(err.facts.reason)}`));
  }
}
