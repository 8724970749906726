// OpenAI's responses. Nothing is stored at the provider: we keep the conversation and send it whole.
import type {
  FunctionTool,
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import type { ToolDescription } from '../../contracts/tools/tools';
import { answerFormat, formatConcession, formatUnless, type AnswerFormat } from './answer-format';
import { cacheKey } from './cache-key';
import { withConcessions } from './concessions';
import type { WireCall, WireProtocol, WireReply } from './wire-protocol';
import { openaiClient } from './openai-client';
import type { ChatMessage, ModelRequest } from '../provider';
import { responseOfStream, responsesReply } from './replies/responses-reply';
import { fieldsOf, listOf } from './replies/untrusted';
import { streamOf, wholeOf } from './replies/whole-answer';
import { dataUrl, shownImages, type ShownImage } from './conversation/shown-images';

export const openaiResponses: WireProtocol = (call) => {
  const format = answerFormat(call);
  return withConcessions(call, formatConcession(format), (asked, made) =>
    ask(asked, formatUnless(format, made)),
  );
};

async function ask(call: WireCall, format: AnswerFormat | undefined): Promise<WireReply> {
  const client = await openaiClient(call);
  const { onText, signal } = call;
  const params = paramsOf(call, format);
  if (!onText) return responsesReply(await wholeOf(client.responses.create(params, { signal })));
  const sent = await streamOf(client.responses.create({ ...params, stream: true }, { signal }), call);
  return responsesReply('whole' in sent ? sent.whole : await responseOfStream(sent.events, onText));
}

function paramsOf(call: WireCall, format: AnswerFormat | undefined): ResponseCreateParamsNonStreaming {
  const { name, system, messages, images, tools = [], maxOutputTokens } = call;
  return {
    model: name,
    store: false,
    ...(system && { instructions: system }),
    input: messages.flatMap((message) => itemsOf(message, images)),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(format && { text: { format: { type: 'json_schema', ...format } } }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    prompt_cache_key: cacheKey(call),
  };
}

function itemsOf(message: ChatMessage, images: ModelRequest['images']): ResponseInputItem[] {
  const shown = shownImages(message, images).map(imagePart);
  const content = shown.length > 0 ? [textPart(message.text), ...shown] : message.text;
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.callId, output: content }];
  if (message.role === 'user') return [{ role: 'user', content }];
  const calls = (message.calls ?? []).map(({ id, tool, args }) => ({
    type: 'function_call' as const,
    call_id: id,
    name: tool,
    arguments: args,
  }));
  const said = message.text ? [{ role: 'assistant' as const, content: message.text }] : [];
  return [...reasoningOf(message.extras), ...said, ...calls];
}

/** As it came: sealed, so that only the provider can read it. */
const reasoningOf = (extras: unknown): ResponseInputItem[] =>
  listOf(fieldsOf(extras).reasoning) as ResponseInputItem[];

const textPart = (text: string) => ({ type: 'input_text', text }) as const;

const imagePart = (image: ShownImage) =>
  ({ type: 'input_image', image_url: dataUrl(image), detail: 'auto' }) as const;

const toolOf = ({ name, description, parameters }: ToolDescription): FunctionTool => ({
  type: 'function',
  name,
  description,
  parameters,
  strict: false,
});
