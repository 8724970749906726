// Reads an answer in Anthropic's messages.
import { CutStream, UnexpectedAnswer } from '../classify-error';
import type { Tokens } from '../cost';
import type { WireReply } from '../http-provider';
import { refusal } from '../../model-refusal';
import { jsonOf } from '../../dialects/json-text';
import { callOf, contentText, countOf, countOrNone, fieldsOf, textOf, type Fields } from './untrusted';
import { answerFields, outsideProtocol } from './whole-answer';

export function messagesReply(answer: unknown): WireReply {
  const { content, stop_reason: reason, usage } = answerFields(answer);
  if (!Array.isArray(content)) throw outsideProtocol('content');
  if (reason === null) throw new CutStream();
  if (reason === 'pause_turn')
    throw new UnexpectedAnswer(
      'the provider paused its reply (pause_turn), which it does only for tools of its own: none were asked for',
    );
  const tokens = messagesTokens(usage);
  const text = contentText(content);
  if (reason === 'refusal') return { ...refusal(text, reason), tokens };
  const calls = content
    .map(fieldsOf)
    .filter(({ type }) => type === 'tool_use')
    .map((block) => callOf({ id: block.id, tool: block.name, args: inputText(block) }));
  const isCut = reason === 'max_tokens' || reason === 'model_context_window_exceeded';
  return { text, ...(calls.length > 0 && { calls }), ...(isCut && { isCut }), tokens };
}

/** The text of an input that arrived in pieces is as it came: the SDK would complete one that was cut. */
function inputText({ input, partial_json: pieces }: Fields): string {
  if (textOf(pieces) !== '') return textOf(pieces);
  return input === undefined || input === null ? '' : jsonOf(input);
}

function messagesTokens(usage: unknown): Tokens | undefined {
  const { input_tokens, output_tokens, ...more } = fieldsOf(usage);
  const [fresh, output] = [countOf(input_tokens ?? 0), countOf(output_tokens ?? 0)];
  if (fresh === undefined || output === undefined || (input_tokens ?? output_tokens ?? null) === null)
    return undefined;
  const cached = countOrNone(more.cache_read_input_tokens);
  const cacheWrite = countOrNone(more.cache_creation_input_tokens);
  return { input: fresh + cached + cacheWrite, cached, cacheWrite, output };
}
