// The scripted provider: raw replies, exactly what a model would have written, from a YAML file or from a test's
// own code. It keeps no state: the reply is chosen by how many replies the conversation already holds, so a
// repeated call after a crash gives the same one.
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { parseDocument } from 'yaml';
import * as z from 'zod/mini';
import { HoldfastError, reasonOf } from '../contracts/errors';
import type { ChatMessage, ModelProvider } from './provider';

const replySchema = z.strictObject({
  text: z.optional(z.string()),
  /** Regular expression that the last message must match. */
  expect: z.optional(z.string()),
  delayMs: z.optional(z.number().check(z.minimum(0), z.maximum(3_600_000))),
  /** The call fails with this reason instead of answering. */
  fail: z.optional(z.string()),
});
export type ScriptedReply = z.infer<typeof replySchema>;

const SHOWN_CHARACTERS = 500;

export const scriptedProvider = (file: string): ModelProvider =>
  repliesProvider(file, () => loadReplies(file));

/** Replies from anywhere; `file` is what errors call it. */
export function repliesProvider(file: string, load: () => Promise<readonly ScriptedReply[]>): ModelProvider {
  return {
    async check() {
      await load();
    },
    async reply({ messages, signal }) {
      const replies = await load();
      const index = messages.filter((message) => message.role === 'assistant').length;
      const last = shorten(textOf(messages.at(-1)));
      const reply = replies[index];
      if (!reply) {
        throw new HoldfastError('model_script_exhausted', {
          got: index + 1,
          allowed: replies.length,
          last,
          file,
        });
      }
      if (reply.expect !== undefined && !new RegExp(reply.expect, 's').test(textOf(messages.at(-1)))) {
        const facts = { index: index + 1, allowed: `/${reply.expect}/s`, got: last, file };
        throw new HoldfastError('model_script_mismatch', facts);
      }
      if (reply.delayMs) await delay(reply.delayMs, undefined, { signal });
      if (reply.fail !== undefined) throw new HoldfastError('model_failed', { reason: reply.fail });
      return { text: reply.text ?? '' };
    },
  };
}

/** Throws `model_script_invalid` with every fault of the file. */
export async function loadReplies(file: string): Promise<ScriptedReply[]> {
  let source: string;
  try {
    source = await readFile(file, 'utf8');
  } catch (err) {
    throw new HoldfastError('model_script_invalid', { file, faults: reasonOf(err) });
  }
  const document = parseDocument(source);
  const content: unknown = document.errors.length === 0 ? document.toJS() : undefined;
  if (document.errors.length === 0) return checkedReplies(file, content);
  const faults = document.errors.map((err) => err.message).join('; ');
  throw new HoldfastError('model_script_invalid', { file, faults });
}

/** Throws `model_script_invalid` with every fault. */
export function checkedReplies(file: string, content: unknown): ScriptedReply[] {
  const faults = faultsOf(content);
  if (faults.length > 0) throw new HoldfastError('model_script_invalid', { file, faults: faults.join('; ') });
  return content as ScriptedReply[];
}

function faultsOf(content: unknown): string[] {
  if (!Array.isArray(content)) return [`the top must be a list of replies, got ${typeof content}`];
  return content.flatMap((item: unknown, index) => {
    const at = `reply ${index + 1}`;
    const result = replySchema.safeParse(item);
    if (!result.success) {
      return result.error.issues.map((issue) => {
        const keys = issue.code === 'unrecognized_keys' ? ` ${issue.keys.join(', ')}` : '';
        return `${at}: "${issue.path.join('.')}" ${issue.code}${keys}, allowed text, expect, delayMs, fail`;
      });
    }
    if (result.data.text === undefined && result.data.fail === undefined)
      return [`${at}: needs "text" or "fail"`];
    return isExpression(result.data.expect)
      ? []
      : [`${at}: "expect" is no regular expression: ${result.data.expect}`];
  });
}

function isExpression(source: string | undefined): boolean {
  try {
    return source === undefined || Boolean(new RegExp(source, 's'));
  } catch {
    return false;
  }
}

/** What the model reads of a message. */
const textOf = (message: ChatMessage | undefined): string => message?.text ?? '';

const shorten = (text: string): string =>
  text.length <= SHOWN_CHARACTERS ? text : `…${text.slice(-SHOWN_CHARACTERS)}`;
