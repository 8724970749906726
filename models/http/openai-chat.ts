// OpenAI's chat completions, which most other servers speak too.
import type {
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { ToolDescription } from '../../contracts/tools/tools';
import { cacheKey } from './cache-key';
import { functionParameters } from './function-parameters';
import type { WireCall, WireProtocol, WireReply } from './http-provider';
import { isVendors, openaiClient, withAnswerFormat, type AnswerFormat } from './openai-client';
import type { ChatMessage, ModelRequest } from '../provider';
import { chatReply } from './replies/chat-reply';
import { chatOfStream } from './replies/chat-stream';
import { streamOf, wholeOf } from './replies/whole-answer';
import { dataUrl, shownImages, type ShownImage } from './shown-images';
import { ThinkFilter } from './think-filter';

export const openaiChat: WireProtocol = (call) => withAnswerFormat(call, (format) => ask(call, format));

async function ask(call: WireCall, format: AnswerFormat | undefined): Promise<WireReply> {
  const client = await openaiClient(call);
  const { onText, signal } = call;
  const params = paramsOf(call, format);
  if (!onText) return chatReply(await wholeOf(client.chat.completions.create(params, { signal })));
  const sent = await streamOf(
    client.chat.completions.create(
      { ...params, stream: true, stream_options: { include_usage: true } },
      { signal },
    ),
    call,
  );
  if ('whole' in sent) return chatReply(sent.whole);
  const visible = new ThinkFilter(onText);
  const completion = await chatOfStream(sent.events, (piece) => visible.push(piece));
  visible.end();
  return chatReply(completion);
}

function paramsOf(call: WireCall, format: AnswerFormat | undefined): ChatCompletionCreateParamsNonStreaming {
  const { name, system, tools = [], maxOutputTokens } = call;
  return {
    model: name,
    messages: [...(system ? [{ role: 'system' as const, content: system }] : []), ...messagesOf(call)],
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(format && { response_format: { type: 'json_schema', json_schema: format } }),
    ...(maxOutputTokens !== undefined && { max_completion_tokens: maxOutputTokens }),
    ...(isVendors(call) && { prompt_cache_key: cacheKey(call) }),
  };
}

/** A result holds only text, and the results of a reply follow it directly: their images come in one message after them. */
function messagesOf({ messages, images }: WireCall): ChatCompletionMessageParam[] {
  let pending: ChatCompletionContentPart[] = [];
  const all = messages.flatMap((message, index) => {
    const wire = [messageOf(message, images)];
    if (message.role !== 'tool') return wire;
    const shown = shownImages(message, images);
    if (shown.length > 0) pending.push(textPart(imagesTitle(message)), ...shown.map(imagePart));
    if (messages[index + 1]?.role === 'tool' || pending.length === 0) return wire;
    wire.push({ role: 'user', content: pending });
    pending = [];
    return wire;
  });
  return all;
}

const imagesTitle = ({ callId, tool }: Extract<ChatMessage, { role: 'tool' }>): string =>
  `What the call ${callId} of ${tool} shows:`;

const textPart = (text: string) => ({ type: 'text', text }) as const;

const imagePart = (image: ShownImage) => ({ type: 'image_url', image_url: { url: dataUrl(image) } }) as const;

function messageOf(message: ChatMessage, images: ModelRequest['images']): ChatCompletionMessageParam {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.callId, content: message.text };
  if (message.role === 'user') {
    const shown = shownImages(message, images).map(imagePart);
    return { role: 'user', content: shown.length > 0 ? [textPart(message.text), ...shown] : message.text };
  }
  const calls = message.calls?.map(({ id, tool, args }) => ({
    id,
    type: 'function' as const,
    function: { name: tool, arguments: args },
  }));
  return { role: 'assistant', content: message.text, ...(calls?.length && { tool_calls: calls }) };
}

const toolOf = ({ name, description, parameters }: ToolDescription) =>
  ({
    type: 'function',
    function: { name, description, parameters: functionParameters(parameters) },
  }) as const;
