// The scripted provider: raw replies, exactly as a model would have written them, from a YAML file or a test's code. It
// keeps no state: the number of replies in the conversation determines the next one, so a call repeated after a crash
// gives the same reply.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { LineCounter, parseDocument } from 'yaml';
import * as z from 'zod/mini';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import type { ChatMessage, ModelProvider, RawReply } from './provider';
import { endOf } from '../contracts/text/well-formed';

const whole = z.int().check(z.minimum(0));
const callSchema = z.strictObject({
  id: z.optional(z.string()),
  tool: z.string().check(z.minLength(1)),
  /** An object, or the text that a model wrote instead. */
  args: z.union([z.record(z.string(), z.unknown()), z.string()]),
});
const usageSchema = z.strictObject({
  inputTokens: whole,
  outputTokens: whole,
  cachedTokens: z._default(whole, 0),
  costUsd: z._default(z.nullable(z.number().check(z.minimum(0))), null),
});
const replySchema = z.strictObject({
  text: z.optional(z.string()),
  /** Calls through the provider's own function calling, for the dialect `native`. */
  calls: z.optional(z.array(callSchema)),
  usage: z.optional(usageSchema),
  /** The reply was cut off at the model's length limit. */
  cut: z.optional(z.boolean()),
  /** Regular expression that the messages since the last reply must match; `^` and `$` match at line ends. */
  expect: z.optional(z.string()),
  delayMs: z.optional(z.number().check(z.minimum(0), z.maximum(3_600_000))),
  /** The call fails with this reason instead of answering. */
  fail: z.optional(z.string()),
});
export type ScriptedReply = z.input<typeof replySchema>;
const KEYS = Object.keys(replySchema.shape).join(', ');

const SHOWN_CHARACTERS = 500;
const MAX_BYTES = 64 * 1024 * 1024;

export const scriptedProvider = (file: string): ModelProvider =>
  repliesProvider(file, () => loadReplies(file));

/** Replies from any source; `file` is its name in errors. */
export function repliesProvider(file: string, load: () => Promise<readonly ScriptedReply[]>): ModelProvider {
  return {
    async check() {
      await load();
    },
    async reply({ messages, signal }) {
      const replies = await load();
      const index = messages.filter((message) => message.role === 'assistant').length;
      const heard = textSince(messages);
      const last = shorten(heard);
      const reply = replies[index];
      if (!reply) {
        throw new HoldfastError('model_script_exhausted', {
          got: index + 1,
          allowed: replies.length,
          last,
          file,
        });
      }
      if (reply.expect !== undefined && !expression(reply.expect).test(heard)) {
        const facts = { index: index + 1, allowed: `/${reply.expect}/ms`, got: last, file };
        throw new HoldfastError('model_script_mismatch', facts);
      }
      if (reply.delayMs) await delay(reply.delayMs, undefined, { signal });
      if (reply.fail !== undefined) throw new HoldfastError('model_failed', { reason: reply.fail });
      return rawReply(reply, index + 1);
    },
  };
}

function rawReply({ text = '', calls, usage, cut }: ScriptedReply, number: number): RawReply {
  const counted = usage && { cachedTokens: 0, costUsd: null, ...usage };
  const made = calls?.map(({ id, tool, args }, index) => ({
    id: id ?? `reply_${number}_call_${index + 1}`,
    tool,
    args: typeof args === 'string' ? args : JSON.stringify(args),
  }));
  return {
    text,
    ...(made && { calls: made }),
    ...(counted && { usage: counted }),
    ...(cut && { isCut: true }),
  };
}

/**
 * Throws `model_script_invalid` with every fault of the file, but says nothing of what is in it: anybody who may start an
 * agent names it, and it may be any.
 */
export async function loadReplies(file: string): Promise<ScriptedReply[]> {
  let source: string;
  try {
    source = await readText(file);
  } catch (err) {
    throw new HoldfastError('model_script_invalid', { file, faults: reasonOf(err) });
  }
  const faults: string[] = [];
  const content = parsed(source, faults);
  if (faults.length === 0) faults.push(...faultsOf(content, UNSEEN));
  if (faults.length > 0) throw new HoldfastError('model_script_invalid', { file, faults: faults.join('; ') });
  return content as ScriptedReply[];
}

/** Parsers quote what they stumble over: of their errors only the kind and the place are reported. */
function parsed(source: string, faults: string[]): unknown {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  for (const { code, pos } of document.errors) {
    const { line, col } = lines.linePos(pos[0]);
    faults.push(`line ${line}, column ${col} is not valid YAML (${code.toLowerCase().replaceAll('_', ' ')})`);
  }
  try {
    return faults.length === 0 ? document.toJS() : undefined;
  } catch {
    faults.push('it has an alias that leads nowhere, or too many');
    return undefined;
  }
}

/** Anything may have the name that was given: a pipe would be waited for without end, and a device fills the memory. */
async function readText(path: string): Promise<string> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await file.stat();
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES} bytes`);
  return file.readFile('utf8');
}

/** How faults name what they are about. */
interface Wording {
  value: (value: unknown) => string;
  keys: (keys: readonly string[]) => string;
}

/** What is wrong with replies, each with its place, what it is, and what is allowed there. */
export function faultsOf(content: unknown, shown: Wording = SEEN): string[] {
  if (!Array.isArray(content)) return [`the top must be a list of replies, got ${shown.value(content)}`];
  return content.flatMap((item: unknown, index) => {
    const at = `reply ${index + 1}`;
    const result = replySchema.safeParse(item);
    if (!result.success) {
      return result.error.issues.map((issue) => `${at}: ${faultOf(issue, item, shown)}`);
    }
    if ([result.data.text, result.data.calls, result.data.fail].every((part) => part === undefined))
      return [`${at}: needs "text", "calls" or "fail"`];
    return isExpression(result.data.expect)
      ? []
      : [`${at}: "expect" is not a regular expression: got ${shown.value(result.data.expect)}`];
  });
}

function faultOf(issue: z.core.$ZodIssue, item: unknown, shown: Wording): string {
  const got = shown.value(
    issue.path.reduce((value, key) => (value as Record<PropertyKey, unknown>)[key], item),
  );
  const place = issue.path.length > 0 ? `"${issue.path.join('.')}"` : 'it';
  switch (issue.code) {
    case 'unrecognized_keys':
      return `${shown.keys(issue.keys)}${issue.path.length > 0 ? ` in ${place}` : `, allowed ${KEYS}`}`;
    case 'invalid_type':
      return `${place} must be of type ${issue.expected}, got ${got}`;
    case 'invalid_union':
      return `${place} must be an object or a text, got ${got}`;
    case 'too_small':
      return `${place} must ${issue.origin === 'string' ? 'not be empty' : `be at least ${issue.minimum}`}, got ${got}`;
    case 'too_big':
      return `${place} must be at most ${issue.maximum}, got ${got}`;
    case 'invalid_value':
    case 'invalid_format':
    case 'not_multiple_of':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return `${place} is invalid, got ${got}`;
  }
}

const inspected = (value: unknown): string => shorten(inspect(value, { depth: 1, breakLength: Infinity }));

/** The wording for replies that a program hands over. */
const SEEN: Wording = { value: inspected, keys: (keys) => `unknown ${keys.join(', ')}` };

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  const kinds: Partial<Record<string, string>> = {
    string: 'a text',
    number: 'a number',
    boolean: 'a boolean',
  };
  return kinds[typeof value] ?? 'an object';
}

/** The wording for a file that may be any. */
const UNSEEN: Wording = {
  value: kindOf,
  keys: ({ length }) => (length === 1 ? 'an unknown key' : `${length} unknown keys`),
};

const expression = (source: string): RegExp => new RegExp(source, 'ms');

function isExpression(source: string | undefined): boolean {
  try {
    return source === undefined || Boolean(expression(source));
  } catch {
    return false;
  }
}

/** What the model has received since its last reply: one message, or the results of several calls. */
const textSince = (messages: readonly ChatMessage[]): string =>
  messages
    .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
    .map(({ text }) => text)
    .join('\n');

const shorten = (text: string): string =>
  text.length <= SHOWN_CHARACTERS ? text : `…${endOf(text, SHOWN_CHARACTERS)}`;
