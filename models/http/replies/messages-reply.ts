// Reads an answer in Anthropic's messages.
import { UnexpectedAnswer } from '../classify-error';
import type { Tokens } from '../cost';
import type { WireReply } from '../wire-protocol';
import { jsonOf } from '../../dialects/json-text';
import { ended } from './ending';
import { extrasOf } from './extras';
import { callOf, contentText, countOf, countOrNone, fieldsOf, textOf, type Fields } from './untrusted';
import { answerFields, outsideProtocol } from './whole-answer';

export function messagesReply(answer: unknown): WireReply {
  const { content, stop_reason: reason, usage } = answerFields(answer);
  if (!Array.isArray(content)) throw outsideProtocol('content');
  if (reason === 'pause_turn')
    throw new UnexpectedAnswer(
      'the provider paused its reply (pause_turn), which it does only for tools of its own: none were asked for',
    );
  const tokens = messagesTokens(usage);
  const text = contentText(content);
  const blocks = content.map(fieldsOf);
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map((block) => callOf({ id: block.id, tool: block.name, args: inputText(block) }));
  const thinking = blocks.filter(({ type }) => THINKING.includes(type));
  return ended({ text, ...(calls.length > 0 && { calls }), ...extrasOf({ thinking }), tokens }, reason);
}

/** Blocks that the API wants back before the calls that followed them. */
const THINKING: readonly unknown[] = ['thinking', 'redacted_thinking'];

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
