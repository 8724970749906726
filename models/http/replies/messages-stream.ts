// Puts a stream of Anthropic's messages together. The SDK's own accumulator completes a tool's input that was cut off, and
// what it guesses would run.
import { ownValue } from '../../../contracts/own';
import { CutStream } from '../classify-error';
import { fieldsOf, textOf, type Fields } from './untrusted';
import { eventsOf, throwReported } from './whole-answer';

type Block = Record<string, unknown>;

/** The answer as it would have come as a whole, but inputs as `partial_json`. Throws CutStream if it ends first. */
export async function messageOfStream(
  events: AsyncIterable<Fields>,
  onText: (piece: string) => void,
): Promise<Fields> {
  const content: Block[] = [];
  const at = new Map<unknown, Block>();
  let reason = '';
  let isStopped = false;
  let usage: Fields = {};
  for await (const event of eventsOf(events, () => reason !== '')) {
    throwReported(event);
    const delta = fieldsOf(event.delta);
    switch (event.type) {
      case 'message_start':
        usage = fieldsOf(fieldsOf(event.message).usage);
        break;
      case 'content_block_start': {
        const block = { ...fieldsOf(event.content_block) };
        content.push(block);
        at.set(event.index, block);
        break;
      }
      case 'content_block_delta': {
        const block = at.get(event.index) ?? content.at(-1);
        if (block) grow(block, delta);
        if (delta.type === 'text_delta' && textOf(delta.text) !== '') onText(textOf(delta.text));
        break;
      }
      case 'message_delta':
        reason = textOf(delta.stop_reason) || reason;
        usage = { ...usage, ...given(event.usage) };
        break;
      case 'message_stop':
        isStopped = true;
        break;
    }
  }
  if (reason === '' && !isStopped) throw new CutStream();
  return { content, stop_reason: reason, usage };
}

/** What a piece grows, by its type. */
const GROWN: Readonly<Record<string, string>> = {
  text_delta: 'text',
  input_json_delta: 'partial_json',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
};

function grow(block: Block, delta: Fields): void {
  const name = ownValue(GROWN, textOf(delta.type));
  if (name !== undefined) block[name] = textOf(block[name]) + textOf(delta[name]);
}

/** Counts that a later event repeats are totals; those that it leaves out stay. */
const given = (usage: unknown): Fields =>
  Object.fromEntries(Object.entries(fieldsOf(usage)).filter(([, count]) => count !== null));
