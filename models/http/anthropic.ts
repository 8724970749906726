// Anthropic's messages. The beginning of a conversation is marked for the provider's cache.
import type Anthropic from '@anthropic-ai/sdk';
import type {
  MessageCreateParamsNonStreaming,
  MessageParam,
  ContentBlockParam,
  ImageBlockParam,
  Tool,
} from '@anthropic-ai/sdk/resources/messages';
import { withConcessions } from './concessions';
import type { WireCall, WireProtocol, WireReply } from './wire-protocol';
import type { ChatMessage, ModelRequest } from '../provider';
import { messagesReply } from './replies/messages-reply';
import { messageOfStream } from './replies/messages-stream';
import { fieldsOf, listOf } from './replies/untrusted';
import { streamOf, wholeOf } from './replies/whole-answer';
import { shownImages, type ShownImage } from './conversation/shown-images';

/** The API requires one; all current models can write at least this much. */
const DEFAULT_MAX_TOKENS = 32_000;
const CACHED = { cache_control: { type: 'ephemeral' } } as const;

export const anthropicMessages: WireProtocol = (call) => withConcessions(call, [], ask);

async function ask(call: WireCall): Promise<WireReply> {
  const client = await clientOf(call);
  const { onText, signal } = call;
  const params = paramsOf(call);
  if (!onText) return messagesReply(await wholeOf(client.messages.create(params, { signal })));
  const sent = await streamOf(client.messages.create({ ...params, stream: true }, { signal }), call);
  return messagesReply('whole' in sent ? sent.whole : await messageOfStream(sent.events, onText));
}

async function clientOf({ access, fetch, requestMs }: WireCall): Promise<Anthropic> {
  const { Anthropic: Client } = await import('@anthropic-ai/sdk');
  const { key, baseUrl, headers } = access;
  return new Client({
    // The SDK always requires one.
    apiKey: key ?? 'none',
    baseURL: baseUrl ?? 'https://api.anthropic.com',
    webhookKey: null,
    defaultHeaders: { ...(key === null && { Authorization: null, 'X-Api-Key': null }), ...headers },
    fetch,
    timeout: requestMs,
    maxRetries: 0,
    // It logs bodies at level `debug`, which an environment variable could switch on.
    logLevel: 'off',
    openTelemetry: false,
  });
}

function paramsOf({
  name,
  system,
  messages,
  tools,
  maxOutputTokens,
  images,
}: WireCall): MessageCreateParamsNonStreaming {
  return {
    model: name,
    max_tokens: maxOutputTokens ?? DEFAULT_MAX_TOKENS,
    ...(system && { system: [{ type: 'text', text: system, ...CACHED }] }),
    ...(tools?.length && { tools: toolsOf(tools) }),
    messages: marked(messages.reduce((all: Blocks[], message) => joined(all, message, images), [])),
  };
}

const toolsOf = (tools: NonNullable<ModelRequest['tools']>): Tool[] =>
  tools.map(({ name, description, parameters }, index) => ({
    name,
    description,
    input_schema: { type: 'object', ...parameters },
    ...(index === tools.length - 1 && CACHED),
  }));

interface Blocks {
  role: 'user' | 'assistant';
  content: ContentBlockParam[];
}

/** Results of one reply's calls must be in one message, together with what a person said after them. */
function joined(all: Blocks[], message: ChatMessage, images: ModelRequest['images']): Blocks[] {
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  const content = blocksOf(message, images);
  const last = all.at(-1);
  if (last?.role === role) last.content.push(...content);
  else if (content.length > 0) all.push({ role, content });
  return all;
}

function blocksOf(message: ChatMessage, images: ModelRequest['images']): ContentBlockParam[] {
  // The API refuses a text of only white space.
  const text = message.text.trim() === '' ? [] : [{ type: 'text' as const, text: message.text }];
  const shown = shownImages(message, images).map(imageBlock);
  if (message.role === 'tool') {
    const { callId, isError } = message;
    const content = shown.length > 0 ? [...text, ...shown] : message.text;
    return [{ type: 'tool_result', tool_use_id: callId, content, ...(isError && { is_error: true }) }];
  }
  if (message.role === 'user') return [...text, ...shown];
  const calls = (message.calls ?? []).map(({ id, tool, args }) => ({
    type: 'tool_use' as const,
    id,
    name: tool,
    input: argumentsOf(args),
  }));
  return [...thinkingOf(message.extras), ...text, ...calls];
}

/** As it came: the API checks its signatures. */
const thinkingOf = (extras: unknown): ContentBlockParam[] =>
  listOf(fieldsOf(extras).thinking) as ContentBlockParam[];

const imageBlock = ({ mime, data }: ShownImage): ImageBlockParam => ({
  type: 'image',
  source: { type: 'base64', media_type: mime, data },
});

/** The API accepts only an object; what a model wrote may not be one. */
function argumentsOf(args: string): unknown {
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value };
  } catch {
    return { invalid: args };
  }
}

/** Marks the end and the previous call's end, so that its cache is found however many results are in between. */
function marked(all: Blocks[]): MessageParam[] {
  const ends = all.flatMap(({ role }, index) => (role === 'user' ? [index] : [])).slice(-2);
  for (const index of ends) {
    const content = all[index]?.content;
    const last = content?.at(-1);
    if (content && last) content[content.length - 1] = { ...last, ...CACHED };
  }
  return all;
}
