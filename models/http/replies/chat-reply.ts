// Reads an answer in OpenAI's chat completions.
import type { Tokens } from '../cost';
import type { WireReply } from '../wire-protocol';
import { refusal } from '../../model-refusal';
import { isObject } from '../../dialects/json-text';
import { ThinkFilter } from '../think-filter';
import { ended } from './ending';
import { extrasOf, otherFields } from './extras';
import {
  callOf,
  contentText,
  fieldsOf,
  listOf,
  refusedText,
  textOf,
  tokensOf,
  type Fields,
} from './untrusted';
import { answerFields, outsideProtocol, throwReported } from './whole-answer';

/** What the protocol reads of a message, and what is of no use to anyone when it is sent back. */
export const READ_OF_MESSAGE = [
  ...['role', 'content', 'tool_calls', 'function_call', 'refusal', 'name', 'index'],
  ...['audio', 'images', 'annotations', 'logprobs'],
];
export const READ_OF_CALL = ['id', 'type', 'index', 'function', 'custom'];

export function chatReply(answer: unknown): WireReply {
  const { choices, usage } = answerFields(answer);
  const choice = fieldsOf(listOf(choices)[0]);
  throwReported(choice);
  const { message, finish_reason: reason } = choice;
  if (!isObject(message)) throw outsideProtocol('choices');
  const tokens = chatTokens(usage);
  const text = ThinkFilter.visible(contentText(message.content));
  const refused = textOf(message.refusal) || refusedText(message.content);
  if (refused !== '') return { ...refusal(refused, textOf(reason)), tokens };
  const written = callsOf(message);
  const calls = written.map(readCall);
  const reply = {
    text,
    ...(calls.length > 0 && { calls }),
    ...extrasOf({ message: otherFields(message, READ_OF_MESSAGE), calls: extrasOfCalls(written) }),
    tokens,
  };
  return ended(reply, reason);
}

/** Some servers still send the one call of the protocol's first version. */
const callsOf = ({ tool_calls: calls, function_call: only }: Fields): Fields[] => {
  const listed = listOf(calls).map(fieldsOf);
  return listed.length > 0 || !isObject(only) ? listed : [{ function: only }];
};

function readCall({ id, function: called, custom }: Fields): ReturnType<typeof callOf> {
  const { name, arguments: args, input } = fieldsOf(called ?? custom);
  return callOf({ id, tool: name, args: args ?? input });
}

/** By place; undefined where no call has any. */
function extrasOfCalls(calls: readonly Fields[]): Fields[] | undefined {
  const extras = calls.map((call) => ({
    ...otherFields(call, READ_OF_CALL),
    // The servers that put a signature into it need it as it was.
    ...(isLongId(call.id) && { id: call.id }),
  }));
  return extras.some((each) => Object.keys(each).length > 0) ? extras : undefined;
}

const isLongId = (id: unknown): boolean => typeof id === 'string' && id.length > MAX_PLAIN_ID;
/** Longer ids are replaced by our own. */
const MAX_PLAIN_ID = 34;

function chatTokens(usage: unknown): Tokens | undefined {
  const { prompt_tokens: input, completion_tokens: output, prompt_tokens_details: details } = fieldsOf(usage);
  return tokensOf({ input, output, details });
}
