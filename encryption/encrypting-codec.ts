// Temporal's codec: encrypts each payload that leaves this process and decrypts each that arrives. Runs outside the
// workflow sandbox. A reader checks that a payload was made for its own workflow.
import { createHash, createHmac } from 'node:crypto';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { workflowKind } from '../contracts/ids';
import type { KeyRing } from './key-ring';
import { encodingOf, ownerOf, seal, SEALED_ENCODING, unseal, type Owner } from './sealed-payload';
import type { EncryptionSettings } from './encryption-settings';

/** Separates these fingerprints from all other uses of the key. */
const FINGERPRINT = 'holdfast-fingerprint-1\0';

/** What a reader knows about itself. */
type Reader = Owner & { type?: SerializationContext['type'] };

export class EncryptingCodec implements PayloadCodec {
  constructor(
    private readonly keys: KeyRing,
    private readonly settings: Omit<EncryptionSettings, 'keys'>,
  ) {}

  /** Without keys payloads stay unchanged. A context without a workflow id binds them to no workflow. */
  async encode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return this.encodeFor(payloads, { namespace: context?.namespace, workflowId: context?.workflowId });
  }

  async encodeFor(payloads: Payload[], owner: Owner): Promise<Payload[]> {
    const { current } = this.keys;
    return current ? payloads.map((payload) => seal(payload, current, owner)) : payloads;
  }

  /** A fingerprint of a text for unencrypted places; it reveals nothing without the key. In hexadecimal. */
  fingerprint(text: string): string {
    const { current } = this.keys;
    const mark = current ? createHmac('sha256', current.key).update(FINGERPRINT) : createHash('sha256');
    return mark.update(text).digest('hex');
  }

  /** For display: unencrypted payloads pass, even if encryption is required; workflows are not compared. */
  async open(payloads: Payload[], { namespace }: Owner): Promise<Payload[]> {
    return payloads.map((payload) => {
      if (encodingOf(payload) !== SEALED_ENCODING) return payload;
      const opened = unseal(payload, this.keys);
      this.compare(ownerOf(payload), { namespace });
      return opened;
    });
  }

  /**
   * Throws `payload_plaintext`, `payload_key_unknown`, `payload_not_authentic` and `payload_moved`: then nothing of the
   * task is run, and Temporal retries it.
   */
  async decode(payloads: Payload[], context?: SerializationContext): Promise<Payload[]> {
    return payloads.map((payload) => {
      if (encodingOf(payload) !== SEALED_ENCODING) return this.plaintext(payload, context);
      const opened = unseal(payload, this.keys);
      this.compare(ownerOf(payload), context);
      return opened;
    });
  }

  /** Whether messages to this workflow carry seals: then it accepts only messages that our clients have made. */
  sealsFor(workflowId: string): boolean {
    const { required = false, allowPlaintext = [], allowUnbound = [] } = this.settings;
    // A turn and its agent send each other messages: both use the same rule.
    const sender = workflowId.replace(/\/turn\/\d+$/, '');
    const open = allows([...allowPlaintext, ...allowUnbound], { type: 'workflow', workflowId: sender });
    return required && this.keys.current !== undefined && !open;
  }

  private plaintext(payload: Payload, context: SerializationContext | undefined): Payload {
    const { required = false, allowPlaintext = [] } = this.settings;
    if (!required || allows(allowPlaintext, context)) return payload;
    const where = context?.workflowId ? ` for ${context.workflowId}` : '';
    const exempted = allowPlaintext.map((kind) => `, ${kind}s excepted`).join('');
    throw new HoldfastError('payload_plaintext', {
      got: `encoding ${JSON.stringify(encodingOf(payload))}${where}`,
      allowed: `${SEALED_ENCODING}${exempted}`,
    });
  }

  /** Unknown values are not compared: a replay knows no namespace, the codec endpoint no workflow. */
  private compare(made: Owner, context: Reader | undefined): void {
    if (context?.namespace !== undefined && made.namespace !== context.namespace)
      throw moved('namespace', made.namespace, context.namespace);
    if (context?.workflowId === undefined || made.workflowId === context.workflowId) return;
    const { allowPlaintext = [], allowUnbound = [] } = this.settings;
    const isUnbound = made.workflowId === undefined;
    if (isUnbound && allows([...allowPlaintext, ...allowUnbound], context)) return;
    throw moved('workflow', made.workflowId, context.workflowId);
  }
}

const moved = (what: string, got: string | undefined, allowed: string): HoldfastError =>
  new HoldfastError('payload_moved', {
    got: got === undefined ? `none in particular` : `${what} ${got}`,
    allowed,
  });

/** Only for a workflow's own messages: the result of an activity is never sent from outside. */
function allows(
  kinds: NonNullable<EncryptionSettings['allowPlaintext']>,
  context: Reader | undefined,
): boolean {
  if (context?.type !== 'workflow' || context.workflowId === undefined) return false;
  const kind = workflowKind(context.workflowId);
  return kind !== undefined && kinds.includes(kind);
}
