// Reads an answer in OpenAI's chat completions.
import type { Tokens } from '../cost';
import type { WireReply } from '../http-provider';
import { refusal } from '../../model-refusal';
import { isObject } from '../../dialects/json-text';
import { ThinkFilter } from '../think-filter';
import { callOf, contentText, fieldsOf, listOf, refusedText, textOf, tokensOf } from './untrusted';
import { answerFields, outsideProtocol, throwTold } from './whole-answer';

export function chatReply(answer: unknown): WireReply {
  const { choices, usage } = answerFields(answer);
  const choice = fieldsOf(listOf(choices)[0]);
  throwTold(choice);
  const { message, finish_reason: reason } = choice;
  if (!isObject(message)) throw outsideProtocol('choices');
  const calls = listOf(message.tool_calls).map((call) => {
    const { id, function: called } = fieldsOf(call);
    const { name, arguments: args } = fieldsOf(called);
    return callOf({ id, tool: name, args });
  });
  const tokens = chatTokens(usage);
  const text = ThinkFilter.visible(contentText(message.content));
  const refused = textOf(message.refusal) || refusedText(message.content);
  if (refused !== '' || reason === 'content_filter')
    return { ...refusal(refused || text, textOf(reason)), tokens };
  return { text, ...(calls.length > 0 && { calls }), ...(reason === 'length' && { isCut: true }), tokens };
}

function chatTokens(usage: unknown): Tokens | undefined {
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = fieldsOf(usage);
  return tokensOf({ input, output, details });
}
