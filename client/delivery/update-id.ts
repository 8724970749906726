// The ids of updates. Temporal's server answers an update with a known id by itself, whatever its content. So the
// content is part of the update's id, and a message with other content reaches the workflow, which refuses it.
import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import type { MessageContent } from '../../contracts/message-content';

const MARK_CHARS = 16;

/** A codec that can distinguish texts without disclosing them: ids of updates are never encrypted. */
interface Fingerprinting extends PayloadCodec {
  fingerprint(text: string): string;
}

const isFingerprinting = (codec: PayloadCodec): codec is Fingerprinting =>
  'fingerprint' in codec && typeof codec.fingerprint === 'function';

/**
 * The id with a fingerprint of the content. With another codec, which cannot make fingerprints without disclosing the
 * content, only the id: the server then answers for a known id.
 */
export function updateIdOf(client: Client, id: string, content: MessageContent): string {
  const { payloadCodecs } = client.options.loadedDataConverter;
  const text = JSON.stringify([id, ...content]);
  if (payloadCodecs.length === 0)
    return marked(id, createHash('sha256').update(text).digest('hex').slice(0, MARK_CHARS));
  const codec = payloadCodecs.find(isFingerprinting);
  return codec ? marked(id, codec.fingerprint(text).slice(0, MARK_CHARS)) : id;
}

const marked = (id: string, mark: string): string => `${id}#${mark}`;
