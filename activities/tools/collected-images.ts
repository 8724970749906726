// The images that a call of a model adds to its result, until they are stored.
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { ToolResult } from '../../contracts/agents/agent';
import { imageFacts } from '../../contracts/tools/image-header';
import { imageLine, MAX_RESULT_IMAGES, type ImageFacts, type ImageRef } from '../../contracts/tools/images';
import type { ImageStore } from '../blobs/image-store';

export class CollectedImages {
  private readonly images: { content: Buffer; facts: ImageFacts }[] = [];

  /** Throws `image_refused`. */
  readonly add = (data: Uint8Array): ImageFacts => {
    const facts = imageFacts(data);
    if (this.images.length >= MAX_RESULT_IMAGES) {
      const allowed = `${MAX_RESULT_IMAGES} in one result; show the others with another call`;
      throw new HoldfastError('image_refused', { got: `image ${MAX_RESULT_IMAGES + 1}`, allowed });
    }
    // The tool may go on to change its own bytes.
    this.images.push({ content: Buffer.from(data), facts });
    return facts;
  };

  /** The result with them. One that cannot be stored is named in the text: the tool has taken effect all the same. */
  async addTo(
    result: ToolResult,
    { store, agent, signal }: { store: ImageStore; agent: string; signal: AbortSignal },
  ): Promise<ToolResult> {
    if (result.isError || this.images.length === 0) return result;
    const kept: ImageRef[] = [];
    const lines: string[] = [];
    for (const { content, facts } of this.images)
      try {
        kept.push(await store.keep(agent, content, facts, signal));
      } catch (err) {
        signal.throwIfAborted();
        const why = err instanceof HoldfastError ? String(err.facts.reason) : reasonOf(err);
        lines.push(imageLine(facts, `it could not be kept: ${why}`));
      }
    const content = [result.content, ...lines].join('\n');
    return { ...result, content, ...(kept.length > 0 && { images: kept }) };
  }
}
