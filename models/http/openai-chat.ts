// OpenAI's chat completions, which most other servers speak too.
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { ToolDescription } from '../../contracts/tools/tools';
import { answerFormat, formatConcession, formatUnless, type AnswerFormat } from './answer-format';
import { cacheKey } from './cache-key';
import { withConcessions, type Concession, type Made } from './concessions';
import { WireIds } from './conversation/wire-ids';
import { dataUrl, shownImages, type ShownImage } from './conversation/shown-images';
import type { WireCall, WireProtocol, WireReply } from './wire-protocol';
import { isVendors, openaiClient } from './openai-client';
import type { ChatMessage } from '../provider';
import { chatReply } from './replies/chat-reply';
import { chatOfStream } from './replies/chat-stream';
import { fieldsOf, listOf } from './replies/untrusted';
import { streamOf, wholeOf } from './replies/whole-answer';
import { ThinkFilter } from './think-filter';

/** The usage at the end of a stream. */
const STREAM_OPTIONS = 'stream_options';
const UNKNOWN_PART =
  /stream.?options|include_usage|(?:extra|unknown|unrecognized|unsupported|additional) (?:inputs?|fields?|parameters?|arguments?|propert)/i;
/** Null beside calls, which is what OpenAI itself sends; others want a text, if an empty one. */
const NULL_CONTENT = 'null content';
/** A rule of Mistral's chat template: a user speaks only after a reply. */
const REPLY_BETWEEN = 'a reply between a result and a user';
/** Mistral's ids of calls. */
const SHORT_IDS = 'short ids';
/** The name that OpenAI replaced. */
const MAX_TOKENS = 'max_tokens';

export const openaiChat: WireProtocol = (call) => {
  const format = answerFormat(call);
  const own: Concession[] = [
    ...formatConcession(format),
    ...(call.onText ? [{ key: STREAM_OPTIONS, named: UNKNOWN_PART }] : []),
    {
      key: NULL_CONTENT,
      named: /\bcontent\b.*\b(null|none|nil|string|required|missing)|\bmissing field .?content/i,
    },
    { key: REPLY_BETWEEN, named: /\broles?\b.*\b(after|follow\w*|alternat\w*)\b/i },
    { key: SHORT_IDS, named: /\bid\b.*(length of 9|a-z, A-Z, 0-9)/i },
    { key: MAX_TOKENS, named: /max_completion_tokens/ },
  ];
  return withConcessions(call, own, (asked, made) => ask(asked, made, formatUnless(format, made)));
};

async function ask(call: WireCall, made: Made, format: AnswerFormat | undefined): Promise<WireReply> {
  const client = await openaiClient(call);
  const { onText, signal } = call;
  const params = paramsOf(call, made, format);
  if (!onText) return chatReply(await wholeOf(client.chat.completions.create(params, { signal })));
  const usage = made(STREAM_OPTIONS) ? {} : { stream_options: { include_usage: true } };
  const sent = await streamOf(
    client.chat.completions.create({ ...params, stream: true, ...usage }, { signal }),
    call,
  );
  if ('whole' in sent) return chatReply(sent.whole);
  const visible = new ThinkFilter(onText);
  const completion = await chatOfStream(sent.events, (piece) => visible.push(piece), call.isDone);
  visible.end();
  return chatReply(completion);
}

function paramsOf(
  call: WireCall,
  made: Made,
  format: AnswerFormat | undefined,
): ChatCompletionCreateParamsNonStreaming {
  const { name, system, tools = [], maxOutputTokens: most } = call;
  const messages = messagesOf(call, made);
  return {
    model: name,
    messages: [...(system ? [{ role: 'system' as const, content: system }] : []), ...messages],
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(format && { response_format: { type: 'json_schema', json_schema: format } }),
    ...(most !== undefined && (made(MAX_TOKENS) ? { max_tokens: most } : { max_completion_tokens: most })),
    ...(isVendors(call) && { prompt_cache_key: cacheKey(call) }),
  };
}

/** A result holds only text, and the results of a reply follow it directly: their images come in one message after them. */
function messagesOf({ messages, images }: WireCall, made: Made): ChatCompletionMessageParam[] {
  const ids = new WireIds(made(SHORT_IDS));
  let pending: ChatCompletionContentPart[] = [];
  const all = messages.flatMap((message, index): ChatCompletionMessageParam[] => {
    if (message.role === 'user') return [userMessage(message, shownImages(message, images))];
    if (message.role === 'assistant') return [assistantMessage(message, ids, made)];
    const content = message.text || NO_OUTPUT;
    const result = { role: 'tool', tool_call_id: ids.of(message.callId), content } as const;
    const shown = shownImages(message, images);
    if (shown.length > 0) pending.push(textPart(imagesTitle(message)), ...shown.map(imagePart));
    if (messages[index + 1]?.role === 'tool' || pending.length === 0) return [result];
    const user = { role: 'user', content: pending } as const;
    pending = [];
    return [result, user];
  });
  return made(REPLY_BETWEEN) ? all.flatMap(afterReply) : all;
}

/** Some servers refuse an empty text. */
const NO_OUTPUT = '(no output)';

function afterReply(
  message: ChatCompletionMessageParam,
  index: number,
  all: readonly ChatCompletionMessageParam[],
): ChatCompletionMessageParam[] {
  const isBehindResult = message.role === 'user' && all[index - 1]?.role === 'tool';
  return isBehindResult ? [{ role: 'assistant', content: 'I have the results.' }, message] : [message];
}

const imagesTitle = ({ callId, tool }: Extract<ChatMessage, { role: 'tool' }>): string =>
  `What the call ${callId} of ${tool} shows:`;

const textPart = (text: string) => ({ type: 'text', text }) as const;

const imagePart = (image: ShownImage) => ({ type: 'image_url', image_url: { url: dataUrl(image) } }) as const;

const userMessage = ({ text }: ChatMessage, shown: readonly ShownImage[]) =>
  ({
    role: 'user',
    content: shown.length > 0 ? [textPart(text), ...shown.map(imagePart)] : text,
  }) as const;

/** With the fields of its own that the server had sent with it. */
function assistantMessage(
  { text, calls = [], extras }: Extract<ChatMessage, { role: 'assistant' }>,
  ids: WireIds,
  made: Made,
): ChatCompletionMessageParam {
  const { message, calls: ofCalls } = fieldsOf(extras);
  const called = calls.map(({ id: callId, tool, args }, index) => {
    const { id, ...more } = fieldsOf(listOf(ofCalls)[index]);
    return {
      ...more,
      id: ids.given(callId, id),
      type: 'function' as const,
      function: { name: tool, arguments: args },
    };
  });
  const isEmpty = called.length > 0 && text.trim() === '';
  const content = isEmpty ? (made(NULL_CONTENT) ? '' : null) : text;
  return {
    ...fieldsOf(message),
    role: 'assistant',
    content,
    ...(called.length > 0 && { tool_calls: called }),
  };
}

const toolOf = ({ name, description, parameters }: ToolDescription) =>
  ({
    type: 'function',
    function: { name, description, parameters },
  }) as const;
