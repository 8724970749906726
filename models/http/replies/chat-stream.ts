// Puts a stream of chat completions together. The SDK's own accumulator refuses what compatible servers leave out, such
// as `role` and the `index` of calls.
import { CutStream } from '../classify-error';
import { READ_OF_CALL, READ_OF_MESSAGE } from './chat-reply';
import { joinedFields, otherFields } from './extras';
import { argumentsText, contentText, fieldsOf, listOf, refusedText, textOf, type Fields } from './untrusted';
import { eventsOf, throwReported } from './whole-answer';

interface StreamedCall {
  id: string;
  name: string;
  args: string;
  extras: Fields;
}

/**
 * The answer as it would have come as a whole. Throws CutStream if the stream ends first.
 * @param isDone whether the server has said that this was all, for those that give no reason
 */
export async function chatOfStream(
  events: AsyncIterable<Fields>,
  onText: (piece: string) => void,
  isDone: () => boolean,
): Promise<Fields> {
  const calls = new StreamedCalls();
  let content = '';
  let refusal = '';
  let reason = '';
  let extras: Fields = {};
  let usage: unknown;
  for await (const event of eventsOf(events, () => reason !== '')) {
    throwReported(event);
    usage = event.usage ?? usage;
    for (const choice of listOf(event.choices).map(fieldsOf)) {
      if ((choice.index ?? 0) !== 0) continue;
      throwReported(choice);
      const delta = fieldsOf(choice.delta);
      const piece = contentText(delta.content);
      content += piece;
      if (piece !== '') onText(piece);
      refusal += textOf(delta.refusal) || refusedText(delta.content);
      for (const call of listOf(delta.tool_calls)) calls.add(fieldsOf(call));
      extras = joinedFields(extras, otherFields(delta, READ_OF_MESSAGE));
      reason = textOf(choice.finish_reason) || reason;
    }
  }
  if (reason === '' && !isDone()) throw new CutStream();
  const message = { ...extras, content, refusal, tool_calls: calls.all() };
  return { choices: [{ message, finish_reason: reason }], usage };
}

class StreamedCalls {
  private readonly calls: StreamedCall[] = [];
  /** The call that each index now stands for. */
  private readonly at = new Map<unknown, StreamedCall>();

  add(piece: Fields): void {
    const { id: anyId, index } = piece;
    const { name: anyName, arguments: anyArgs, input } = fieldsOf(piece.function ?? piece.custom);
    const [id, name, args] = [textOf(anyId), textOf(anyName), argumentsText(anyArgs ?? input)];
    const last = typeof index === 'number' ? this.at.get(index) : this.calls.at(-1);
    const call = last && goesOn(last, { id, name, index, args }) ? last : this.begin(index);
    call.id ||= id;
    call.name ||= name;
    call.args += args;
    call.extras = { ...call.extras, ...otherFields(piece, READ_OF_CALL) };
  }

  all(): Fields[] {
    return this.calls.map(({ id, name, args, extras }) => ({
      ...extras,
      id,
      function: { name, arguments: args },
    }));
  }

  private begin(index: unknown): StreamedCall {
    const call = { id: '', name: '', args: '', extras: {} };
    this.calls.push(call);
    if (typeof index === 'number') this.at.set(index, call);
    return call;
  }
}

/**
 * Whether a piece belongs to the call before it. Some servers make up an id for each piece, or repeat the name in each;
 * others give all calls the same index, no index or no id. In doubt, arguments that are whole are the end of a call.
 */
function goesOn(
  last: StreamedCall,
  { id, name, index, args }: Pick<StreamedCall, 'id' | 'name' | 'args'> & { index: unknown },
): boolean {
  const hasIndex = typeof index === 'number';
  if (id !== '' && id === last.id) return true;
  const isOther = id !== '' && last.id !== '';
  if (name === '') return hasIndex || !isOther || !isWhole(last.args);
  if (isOther) return name === last.name && last.args.trim() !== '' && !isWhole(last.args);
  if (last.name === '') return true;
  return hasIndex && (args === '' || !isWhole(last.args));
}

function isWhole(args: string): boolean {
  try {
    JSON.parse(args);
    return true;
  } catch {
    return false;
  }
}
