// The native dialect: the provider's own function calling. Every call that is sent back is directly followed by its
// result, as OpenAI and Anthropic require; unusable calls are not sent back as calls.
import type { ParsedReply, ToolCall, VisibleMessage } from '../../contracts/agents/agent';
import type { ChatMessage, NativeCall, RawReply } from '../provider';
import type { Dialect } from './dialect';
import { isObject, jsonOf, readJson, shown } from './json-text';
import { AS_TEXT, cutOff, malformed } from './malformed';
import type { PromptText } from './prompt-files';
import { extrasOf, steps, writtenText, type ShownResult } from './steps';
import { withoutThinking } from './thinking';

export const createNative = (instructions: PromptText): Dialect => ({
  parse,
  instructions,
  messages,
  isNative: true,
  callRule: `Call a tool through the function calling of the API. ${AS_TEXT}`,
});

function parse(reply: RawReply): ParsedReply {
  const { text, calls = [], isCut } = reply;
  if (isCut) return cutOff(reply);
  const prose = withoutThinking(text);
  if (calls.length === 0) {
    return prose === ''
      ? malformed('It is empty: neither an answer nor a call.')
      : { kind: 'answer', answer: prose };
  }
  const read = calls.map(readCall);
  const faults = read.flatMap((call) => ('fault' in call ? [call.fault] : []));
  if (faults.length > 0) return malformed(faults.join(' '));
  const made = withIds(read.filter((call) => 'args' in call));
  return { kind: 'calls', calls: made, headline: null, thoughts: [], prose };
}

/** A provider in JavaScript may return calls of any shape. */
function readCall(call: unknown, index: number): ToolCall | { fault: string } {
  const { id, tool, args } = isObject(call) ? call : {};
  if (typeof tool !== 'string' || tool.trim() === '') return { fault: `Call ${index + 1} has no tool name.` };
  const at = `The arguments of call ${index + 1}, of ${shown(tool)}, cannot be used.`;
  const read = readArguments(args);
  if ('fault' in read) return { fault: `${at} ${read.fault}` };
  if (!isObject(read.value)) return { fault: `${at} Got ${shown(read.value)}, allowed a JSON object.` };
  return { callId: typeof id === 'string' ? id : '', tool, args: read.value };
}

function readArguments(args: unknown): ReturnType<typeof readJson> {
  // Some providers send nothing, or an empty text, for a tool without arguments.
  if (args === undefined || args === null) return { value: {} };
  if (typeof args === 'string') return args.trim() === '' ? { value: {} } : readJson(args);
  return readJson(jsonOf(args));
}

/** Ids that providers and our keys allow. */
const ID_PATTERN = /^[A-Za-z0-9_-]{1,64}$/;

/** The provider's ids if all are valid and unique; otherwise names by position. */
function withIds(calls: readonly ToolCall[]): ToolCall[] {
  const isUsable = calls.every(({ callId }) => ID_PATTERN.test(callId));
  const isUnique = new Set(calls.map(({ callId }) => callId)).size === calls.length;
  if (isUsable && isUnique) return [...calls];
  return calls.map((call, index) => ({ ...call, callId: `call_${index + 1}` }));
}

function messages(all: readonly VisibleMessage[]): ChatMessage[] {
  const taken = new Set<string>();
  return steps(all).flatMap((step): ChatMessage[] => {
    if (step.kind === 'said') return [{ role: 'user', text: step.text }];
    const { message, results } = step;
    // A summary replaced this result's call, so it cannot be sent as a result.
    if (!message)
      return results.map((result) => ({
        role: 'user',
        text: `Result of ${result.tool}:\n${shownText(result)}`,
        ...imagesOf(result),
      }));
    const { text, parsed } = message;
    if (parsed.kind !== 'calls')
      return [{ role: 'assistant', text: writtenText(message, () => ''), ...extrasOf(message) }];
    const ids = parsed.calls.map(({ callId }) => wireId(callId, taken));
    const calls = parsed.calls.map(({ tool, args }, index): NativeCall => ({
      id: ids[index] ?? '',
      tool: wireName(tool),
      args: JSON.stringify(args),
    }));
    const answers = results.map((result, index): ChatMessage => {
      const { tool, isError } = result;
      const text = shownText(result);
      return {
        role: 'tool',
        callId: ids[index] ?? '',
        tool: wireName(tool),
        text,
        isError,
        ...imagesOf(result),
      };
    });
    return [{ role: 'assistant', text: text ?? parsed.prose, calls, ...extrasOf(message) }, ...answers];
  });
}

const imagesOf = ({ images }: ShownResult): Pick<ShownResult, 'images'> => (images ? { images } : {});

/** Providers refuse a whole conversation for one name that is none of theirs; a model may have made one up. */
const wireName = (tool: string): string =>
  String(tool)
    .replace(/[^a-zA-Z0-9_-]/g, '_')
    .slice(0, MAX_WIRE_NAME) || 'unknown';

/** OpenAI's limit. */
const MAX_WIRE_NAME = 64;

/** Providers want ids unique in a conversation; some of them, and our other dialects, restart in each reply. */
function wireId(callId: string, taken: Set<string>): string {
  // A reply that was recorded as its server sent it may have an id that is no text.
  const base = String(callId).slice(0, MAX_WIRE_ID);
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}_${number}`;
  taken.add(id);
  return id;
}

/** OpenAI allows at most 64 characters, some compatible servers 40; this leaves room for a number. */
const MAX_WIRE_ID = 34;

const shownText = ({ content, note }: ShownResult): string =>
  note === undefined ? content : `Note: ${note}\n${content}`;
