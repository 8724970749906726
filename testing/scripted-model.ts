// A scripted model in a test's own code: raw replies, exactly as a model would write them. The same implementation as
// the provider `scripted:FILE`.
import { inspect } from 'node:util';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { ModelProvider, ModelRequest } from '../models/provider';
import { faultsOf, repliesProvider, type ScriptedReply } from '../models/scripted';

export interface ScriptedModel extends ModelProvider {
  /** Every request it received, in order; a repeated one is listed twice. */
  readonly requests: readonly ModelRequest[];
}

const NAME = 'scriptedModel(...)';

/**
 * A model that gives these replies one after the other; a text means `{ text }`. The conversation determines the next
 * one, so one model may serve several agents. Throws `invalid_input` with every fault.
 */
export function scriptedModel(replies: readonly (string | ScriptedReply)[]): ScriptedModel {
  const all = checkedReplies(replies);
  const provider = repliesProvider(NAME, () => Promise.resolve(all));
  const requests: ModelRequest[] = [];
  return {
    requests,
    reply(request) {
      requests.push(request);
      return provider.reply(request);
    },
  };
}

/** In plain JavaScript they may be anything; there is no file to fix. */
function checkedReplies(replies: unknown): ScriptedReply[] {
  const isList = Array.isArray(replies);
  const all: unknown = isList
    ? replies.map((reply: unknown) => (typeof reply === 'string' ? { text: reply } : reply))
    : replies;
  const faults = faultsOf(all);
  if (faults.length === 0) return all as ScriptedReply[];
  throw new HoldfastError('invalid_input', {
    what: 'What scriptedModel() takes',
    got: isList ? faults.join('; ') : inspect(replies),
    allowed: 'a list of replies, each a text or an object with "text", "calls" or "fail"',
    next: 'Fix the replies in the test; every fault is listed.',
  });
}

/** A reply that calls tools, in the tagged dialect; calls without an id are named `call_1`, `call_2` by position. */
export const toolBlock = (calls: readonly { id?: string; tool: string; args: object }[]): string =>
  `<tool>\n${JSON.stringify(
    calls.map(({ id, tool, args }) => ({ call_id: id, tool_name: tool, arguments: args })),
    null,
    2,
  )}\n</tool>`;

/** A reply that calls a tool, in the agent JSON dialect. */
export const toolCall = (tool: string, args: object, headline = 'a step'): string =>
  JSON.stringify({ thoughts: [], headline, tool_name: tool, tool_args: args });
