// OpenAI's responses. Nothing is stored at the provider: we keep the conversation and send it whole.
import type {
  FunctionTool,
  Response,
  ResponseCreateParamsNonStreaming,
  ResponseInputItem,
} from 'openai/resources/responses/responses';
import type { ToolDescription } from '../../contracts/tools/tools';
import { cacheKey } from './cache-key';
import { CutStream, ToldError, UnexpectedAnswer } from './classify-error';
import type { Tokens } from './cost';
import type { WireCall, WireProtocol, WireReply } from './http-provider';
import { isStrict, openaiClient } from './openai-client';
import type { ChatMessage, ModelRequest, NativeCall } from '../provider';
import { refusal } from './model-refusal';
import { dataUrl, shownImages, type ShownImage } from './shown-images';

export const openaiResponses: WireProtocol = async (call) => {
  const client = await openaiClient(call);
  const { onText, signal } = call;
  const params = paramsOf(call);
  if (!onText) return replyOf(await client.responses.create(params, { signal }));
  const stream = await client.responses.create({ ...params, stream: true }, { signal });
  let response: Response | undefined;
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') onText(event.delta);
    else if (event.type === 'error') throw new ToldError(event.code ?? 'error', event.message);
    else if (
      event.type === 'response.completed' ||
      event.type === 'response.incomplete' ||
      event.type === 'response.failed'
    )
      response = event.response;
  }
  if (!response) throw new CutStream('the stream ended before the answer did');
  return replyOf(response);
};

function paramsOf(call: WireCall): ResponseCreateParamsNonStreaming {
  const { name, system, messages, images, tools = [], outputSchema: schema, maxOutputTokens } = call;
  return {
    model: name,
    store: false,
    ...(system && { instructions: system }),
    input: messages.flatMap((message) => itemsOf(message, images)),
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
    ...(schema && {
      text: {
        format: { type: 'json_schema', name: 'answer', schema: { ...schema }, strict: isStrict(schema) },
      },
    }),
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
  return [...(message.text ? [{ role: 'assistant' as const, content: message.text }] : []), ...calls];
}

const textPart = (text: string) => ({ type: 'input_text', text }) as const;

const imagePart = (image: ShownImage) =>
  ({ type: 'input_image', image_url: dataUrl(image), detail: 'auto' }) as const;

const toolOf = ({ name, description, parameters }: ToolDescription): FunctionTool => ({
  type: 'function',
  name,
  description,
  parameters: { ...parameters },
  strict: false,
});

function replyOf(response: Response): WireReply {
  const { status, error, incomplete_details: incomplete } = response;
  if (status === 'failed' || error)
    throw new ToldError(error?.code ?? 'server_error', error?.message ?? 'no reason');
  // A compatible server may send anything.
  const output = response.output as Response['output'] | undefined;
  if (!Array.isArray(output))
    throw new UnexpectedAnswer('the answer has no output; look at base_url and wire_api');
  let text = '';
  let refused: string | undefined;
  const calls: NativeCall[] = [];
  for (const item of output) {
    if (item.type === 'function_call')
      calls.push({ id: item.call_id, tool: item.name, args: item.arguments });
    if (item.type !== 'message') continue;
    for (const part of item.content) {
      if (part.type === 'output_text') text += part.text;
      else refused = (refused ?? '') + part.refusal;
    }
  }
  const tokens = tokensOf(response);
  if (incomplete?.reason === 'content_filter') refused ??= text;
  if (refused !== undefined) return { text: refusal(refused, incomplete?.reason ?? 'refusal'), tokens };
  return {
    text,
    ...(calls.length > 0 && { calls }),
    ...(status === 'incomplete' && { isCut: true }),
    tokens,
  };
}

function tokensOf({ usage }: Response): Tokens | undefined {
  // Some compatible servers omit the details.
  const details = usage?.input_tokens_details as { cached_tokens?: number } | undefined;
  return (
    usage && { input: usage.input_tokens, cached: details?.cached_tokens ?? 0, output: usage.output_tokens }
  );
}
