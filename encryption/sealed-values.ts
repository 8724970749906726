// Encrypts large values that are stored outside the data folder, as payloads are encrypted: with the same codecs and
// keys, bound to their namespace and agent.
import type { DataConverter, Payload, SerializationContext } from '@temporalio/common';
import { agentWorkflowId } from '../contracts/ids';
import { payloadFromBytes, payloadToBytes } from './payload-bytes';

/** See `Sealing` in activities/blobs. Without codecs values are stored as they are. */
export class SealedValues {
  constructor(
    private readonly converter: DataConverter | undefined,
    private readonly namespace: string,
  ) {}

  async seal(content: Buffer, agent: string): Promise<Buffer> {
    let payloads: Payload[] = [{ metadata: { encoding: Buffer.from('json/plain') }, data: content }];
    for (const codec of this.codecs) payloads = await codec.encode(payloads, this.contextOf(agent));
    return Buffer.from(payloadToBytes(only(payloads)));
  }

  /** Throws what the codecs throw: `payload_plaintext`, `payload_key_unknown`, `payload_not_authentic`, `payload_moved`. */
  async open(sealed: Buffer, agent: string): Promise<Buffer> {
    let payloads = [payloadFromBytes(sealed)];
    for (const codec of this.codecs.toReversed())
      payloads = await codec.decode(payloads, this.contextOf(agent));
    return Buffer.from(only(payloads).data ?? []);
  }

  /** Undefined if the codec cannot make one without disclosing the text. */
  fingerprint(text: string): string | undefined {
    if (this.codecs.length === 0) return text;
    const codec = this.codecs.find((one) => 'fingerprint' in one && typeof one.fingerprint === 'function');
    return (codec as { fingerprint?: (text: string) => string } | undefined)?.fingerprint?.(text);
  }

  private get codecs(): NonNullable<DataConverter['payloadCodecs']> {
    return this.converter?.payloadCodecs ?? [];
  }

  private contextOf(agent: string): SerializationContext {
    return { type: 'workflow', namespace: this.namespace, workflowId: agentWorkflowId(agent) };
  }
}

function only(payloads: Payload[]): Payload {
  const [payload] = payloads;
  if (!payload || payloads.length > 1) throw new Error('a codec must keep the number of payloads');
  return payload;
}
