// Puts a stream of Anthropic's messages together. The SDK's own accumulator completes a tool's input that was cut off, and
// what it guesses would run.
import { CutStream } from '../classify-error';
import { fieldsOf, textOf, type Fields } from './untrusted';
import { eventsOf, throwTold } from './whole-answer';

type Block = Record<string, unknown>;

/** The answer as it would have come as a whole, but inputs as `partial_json`. Throws CutStream if it ends first. */
export async function messageOfStream(
  events: AsyncIterable<Fields>,
  onText: (piece: string) => void,
): Promise<Fields> {
  const content: Block[] = [];
  const at = new Map<unknown, Block>();
  let reason = '';
  let usage: Fields = {};
  for await (const event of eventsOf(events, () => reason !== '')) {
    throwTold(event);
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
    }
  }
  if (reason === '') throw new CutStream();
  return { content, stop_reason: reason, usage };
}

function grow(block: Block, { type, text, partial_json: json }: Fields): void {
  if (type === 'text_delta') block.text = textOf(block.text) + textOf(text);
  if (type === 'input_json_delta') block.partial_json = textOf(block.partial_json) + textOf(json);
}

/** Counts that a later event repeats are totals; those that it leaves out stay. */
const given = (usage: unknown): Fields =>
  Object.fromEntries(Object.entries(fieldsOf(usage)).filter(([, count]) => count !== null));
