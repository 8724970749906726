// Reads an answer in OpenAI's responses.
import { CutStream, ReportedError, UnexpectedAnswer } from '../classify-error';
import type { Tokens } from '../cost';
import type { WireReply } from '../wire-protocol';
import type { NativeCall } from '../../provider';
import { refusal } from '../../model-refusal';
import { ended } from './ending';
import { extrasOf, otherFields } from './extras';
import { callOf, contentText, fieldsOf, refusedText, textOf, tokensOf, type Fields } from './untrusted';
import { answerFields, eventsOf, outsideProtocol } from './whole-answer';

const ENDS = ['response.completed', 'response.incomplete', 'response.failed', 'response.cancelled'];

/** The response at the end of a stream. Throws ReportedError, and CutStream if the stream ends first. */
export async function responseOfStream(
  events: AsyncIterable<Fields>,
  onText: (piece: string) => void,
): Promise<unknown> {
  let response: unknown;
  for await (const event of eventsOf(events, () => response !== undefined)) {
    const type = textOf(event.type);
    if (type === 'response.output_text.delta' && textOf(event.delta) !== '') onText(textOf(event.delta));
    else if (type === 'error') throw new ReportedError(event);
    else if (ENDS.includes(type)) response = event.response;
  }
  if (response === undefined) throw new CutStream();
  return response;
}

export function responsesReply(answer: unknown): WireReply {
  const { status, output, usage, incomplete_details: details } = answerFields(answer);
  if (status === 'failed') throw new ReportedError({ code: 'server_error', message: 'no reason' });
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
  const calls = items.flatMap(callsOf);
  const tokens = responsesTokens(usage);
  const { reason } = fieldsOf(details);
  if (refused !== '') return { ...refusal(refused, textOf(reason) || 'refusal'), tokens };
  const reasoning = items.filter(isSealed).map((item) => otherFields(item, ['status']));
  const reply = { text, ...(calls.length > 0 && { calls }), ...extrasOf({ reasoning }), tokens };
  return status === 'incomplete' ? ended(reply, textOf(reason) || 'max_output_tokens') : reply;
}

/** A custom tool's input is a text of its own kind: the dialect says what is wrong with it. */
function callsOf({ type, call_id: id, name: tool, arguments: args, input }: Fields): NativeCall[] {
  if (type === 'function_call') return [callOf({ id, tool, args })];
  return type === 'custom_tool_call' ? [callOf({ id, tool, args: input })] : [];
}

/** Nothing is stored at the provider: only reasoning that carries itself can go back. */
const isSealed = ({ type, encrypted_content: sealed }: Fields): boolean =>
  type === 'reasoning' && textOf(sealed) !== '';

function responsesTokens(usage: unknown): Tokens | undefined {
  const { input_tokens: input, output_tokens: output, input_tokens_details: details } = fieldsOf(usage);
  return tokensOf({ input, output, details });
}
