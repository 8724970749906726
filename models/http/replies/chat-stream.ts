// Puts a stream of chat completions together. The SDK's own accumulator refuses what compatible servers leave out, such
// as `role` and the `index` of calls.
import { CutStream } from '../classify-error';
import { argumentsText, contentText, fieldsOf, listOf, refusedText, textOf, type Fields } from './untrusted';
import { eventsOf, throwTold } from './whole-answer';

interface StreamedCall {
  id: string;
  name: string;
  args: string;
}

/** The answer as it would have come as a whole. Throws CutStream if the stream ends first. */
export async function chatOfStream(
  events: AsyncIterable<Fields>,
  onText: (piece: string) => void,
): Promise<Fields> {
  const calls = new StreamedCalls();
  let content = '';
  let refusal = '';
  let reason = '';
  let usage: unknown;
  for await (const event of eventsOf(events, () => reason !== '')) {
    throwTold(event);
    usage = event.usage ?? usage;
    for (const choice of listOf(event.choices).map(fieldsOf)) {
      if ((choice.index ?? 0) !== 0) continue;
      throwTold(choice);
      const delta = fieldsOf(choice.delta);
      const piece = contentText(delta.content);
      content += piece;
      if (piece !== '') onText(piece);
      refusal += textOf(delta.refusal) || refusedText(delta.content);
      for (const call of listOf(delta.tool_calls)) calls.add(fieldsOf(call));
      reason = textOf(choice.finish_reason) || reason;
    }
  }
  if (reason === '') throw new CutStream();
  const message = { content, refusal, tool_calls: calls.all() };
  return { choices: [{ message, finish_reason: reason }], usage };
}

class StreamedCalls {
  private readonly calls: StreamedCall[] = [];
  /** The call that each index now stands for. */
  private readonly at = new Map<unknown, StreamedCall>();

  add({ id: anyId, index, function: called }: Fields): void {
    const { name: anyName, arguments: args } = fieldsOf(called);
    const [id, name] = [textOf(anyId), textOf(anyName)];
    const last = typeof index === 'number' ? this.at.get(index) : this.calls.at(-1);
    const call = last && this.goesOn(last, { id, name, index }) ? last : this.begin(index);
    call.id ||= id;
    call.name ||= name;
    call.args += argumentsText(args);
  }

  all(): Fields[] {
    return this.calls.map(({ id, name, args }) => ({ id, function: { name, arguments: args } }));
  }

  /** Another id is another call, even under the same index. Without an id and an index, a name begins a call. */
  private goesOn(
    last: StreamedCall,
    { id, name, index }: { id: string; name: string; index: unknown },
  ): boolean {
    if (id !== '' && last.id !== '') return id === last.id;
    return typeof index === 'number' || name === '' || last.name === '';
  }

  private begin(index: unknown): StreamedCall {
    const call = { id: '', name: '', args: '' };
    this.calls.push(call);
    if (typeof index === 'number') this.at.set(index, call);
    return call;
  }
}
