// The ids of updates. Temporal's server answers an update whose id it knows by itself, whatever is in it: so what a
// message says is a part of its update's id, and one with other content gets to the workflow, which refuses it.
import { createHash } from 'node:crypto';
import type { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import type { MessageContent } from '../contracts/message-content';

const MARK_CHARS = 16;

/** A codec that can tell texts apart without disclosing them: ids of updates are never encrypted. */
interface Fingerprinting extends PayloadCodec {
  fingerprint(text: string): string;
}

const isFingerprinting = (codec: PayloadCodec): codec is Fingerprinting =>
  'fingerprint' in codec && typeof codec.fingerprint === 'function';

/**
 * The id with a mark of the content. With a codec of other make, which cannot mark without disclosing, it is the id
 * alone: then the server answers for a known id.
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
