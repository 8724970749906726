// The images in messages that another agent's conversation starts with: it gets its own, which outlive the first agent.
import { Context } from '@temporalio/activity';
import type { Message, TranscriptPage } from '../../contracts/agents/agent';
import { subjectOf } from '../../contracts/ids';
import type { ImageRef } from '../../contracts/tools/images';
import type { ImageStore } from '../blobs/image-store';

/** The page for the agent whose activity this is. An image that is gone stays named. */
export async function adoptImages(
  page: TranscriptPage,
  { from, images }: { from: string; images: ImageStore },
): Promise<TranscriptPage> {
  const { workflowExecution } = Context.current().info;
  const { agent: to } = subjectOf(workflowExecution?.workflowId ?? '');
  if (to === undefined || to === from) return page;
  const { cancellationSignal: signal } = Context.current();
  const own = (ref: ImageRef): Promise<ImageRef> =>
    images.adopt(ref, { from, to }, signal).catch(() => {
      signal.throwIfAborted();
      return ref;
    });
  const adopted = async (message: Message): Promise<Message> =>
    message.role === 'tool' && message.images
      ? { ...message, images: await Promise.all(message.images.map(own)) }
      : message;
  return { ...page, messages: await Promise.all(page.messages.map(adopted)) };
}
