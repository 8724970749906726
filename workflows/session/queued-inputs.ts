// Signalled inputs: they are typed in order, many per activity, and stay queued until they are typed.
import { isCancellation } from '@temporalio/workflow';
import { jsonBytes } from '../../contracts/payload-size';
import { utf8Length } from '../../contracts/schemas/session';
import type { SignalledInput } from '../../contracts/sessions/host';
import type { CommandView } from '../../contracts/sessions/session';
import { hostFailure, repeatable } from '../host/host-activities';
import type { SessionIds } from './session-ids';
import { summaryOfInput } from './session-labels';
import { bindToFolder, recordRefusal, type SessionRecord } from './session-record';

/** Continue-as-new carries the queue in one payload of at most 2 MB. */
export const MAX_QUEUED_INPUT_BYTES = 1_000_000;
const MAX_BATCH = 100;
const MAX_BATCH_BYTES = 300_000;

export class QueuedInputs {
  isTyping = false;

  constructor(
    private readonly record: SessionRecord,
    private readonly ids: SessionIds,
    private readonly show: (view: CommandView) => void,
  ) {}

  /** False if the queue is full. */
  add(input: SignalledInput): boolean {
    const queue = this.record.queuedInputs;
    const all = [...queue, input];
    if (sumOf(all, bytesOf) > MAX_QUEUED_INPUT_BYTES) return false;
    // The largest input of control characters takes more by itself, and is carried alone.
    if (queue.length > 0 && sumOf(all, jsonBytes) > MAX_QUEUED_INPUT_BYTES) return false;
    queue.push(input);
    return true;
  }

  /** Types what is queued, unless that is being done. */
  resume(): void {
    if (!this.isTyping && this.record.queuedInputs.length > 0) void this.type();
  }

  /** Not part of any handler. Inputs not typed before a continue-as-new are sent again: the host knows the ids. */
  private async type(): Promise<void> {
    this.isTyping = true;
    const { record } = this;
    for (let inputs = nextInputs(record); inputs.length > 0; inputs = nextInputs(record)) {
      const [first] = inputs;
      const summary =
        inputs.length > 1
          ? `type ${inputs.length} inputs`
          : summaryOfInput(first?.text ?? null, first?.keys ?? []);
      try {
        const { view, refused } = await repeatable(record.ref.host).sendInputs.executeWithOptions(
          { summary },
          [{ ref: record.ref, inputs }],
        );
        for (const message of refused) recordRefusal(record, message);
        this.show(bindToFolder(record.ref, view));
      } catch (err) {
        if (isCancellation(err)) break;
        for (const { inputId } of inputs) this.ids.forgetInput(inputId);
        const failure = hostFailure(err, record.ref.host);
        recordRefusal(record, failure instanceof Error ? failure.message : String(failure));
      }
      record.queuedInputs = record.queuedInputs.slice(inputs.length);
    }
    this.isTyping = false;
  }
}

/** The head of the queue, as many inputs as one activity types. They stay queued until they are typed. */
function nextInputs({ queuedInputs }: SessionRecord): SignalledInput[] {
  let bytes = 0;
  const end = queuedInputs.findIndex((input, index) => {
    bytes += bytesOf(input);
    return index > 0 && (index >= MAX_BATCH || bytes > MAX_BATCH_BYTES);
  });
  return queuedInputs.slice(0, end < 0 ? undefined : end);
}

const sumOf = (inputs: readonly SignalledInput[], size: (input: SignalledInput) => number): number =>
  inputs.reduce((sum, input) => sum + size(input), 0);

/**
 * Size with plain text. As JSON it may be six times as much, which one activity takes. Not to be changed: a replay needs the
 * same activities.
 */
const bytesOf = ({ inputId, text, keys }: SignalledInput): number =>
  100 + inputId.length + utf8Length(text ?? '') + 12 * keys.length;
