// Reads an answer in OpenAI's responses.
import { CutStream, ToldError, UnexpectedAnswer } from '../classify-error';
import type { Tokens } from '../cost';
import type { WireReply } from '../http-provider';
import { refusal } from '../../model-refusal';
import { callOf, contentText, fieldsOf, refusedText, textOf, tokensOf, type Fields } from './untrusted';
import { answerFields, eventsOf, outsideProtocol } from './whole-answer';

const ENDS = ['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'];

/** The response at the end of a stream. Throws ToldError, and CutStream if the stream ends first. */
export async function responseOfStream(
  events: AsyncIterable<Fields>,
  onText: (piece: string) => void,
): Promise<unknown> {
  let response: unknown;
  for await (const event of eventsOf(events, () => response !== undefined)) {
    const type = textOf(event.type);
    if (type === 'response.output_text.delta' && textOf(event.delta) !== '') onText(textOf(event.delta));
    else if (type === 'error') throw new ToldError(event);
    else if (ENDS.includes(type)) response = event.response;
  }
  if (response === undefined) throw new CutStream();
  return response;
}

export function responsesReply(answer: unknown): WireReply {
  const { status, output, usage, incomplete_details: details } = answerFields(answer);
  if (status === 'failed') throw new ToldError({ code: 'server_error', message: 'no reason' });
  // Some compatible servers omit it.
  if (!['completed', 'incomplete', undefined, null].includes(status as string))
    throw new UnexpectedAnswer(
      `got a response with the status ${JSON.stringify(status)}, allowed "completed" or "incomplete"`,
    );
  if (!Array.isArray(output)) throw outsideProtocol('output');
  const items = output.map(fieldsOf);
  const contents = items.filter(({ type }) => type === 'message').map(({ content }) => content);
  const text = contents.map(contentText).join('');
  const refused = contents.map(refusedText).join('');
  const calls = items
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id: id, name: tool, arguments: args }) => callOf({ id, tool, args }));
  const tokens = responsesTokens(usage);
  const { reason } = fieldsOf(details);
  if (refused !== '' || reason === 'content_filter')
    return { ...refusal(refused || text, textOf(reason) || 'refusal'), tokens };
  return {
    text,
    ...(calls.length > 0 && { calls }),
    ...(status === 'incomplete' && { isCut: true }),
    tokens,
  };
}

function responsesTokens(usage: unknown): Tokens | undefined {
  const { input_tokens: input, output_tokens: output, input_tokens_details: details } = fieldsOf(usage);
  return tokensOf({ input, output, details });
}
