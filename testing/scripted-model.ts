// A scripted model in a test's own code: raw replies, exactly as a model would write them. The same implementation as
// the provider `scripted:FILE`.
import type { ModelProvider, ModelRequest } from '../models/provider';
import { checkedReplies, repliesProvider, type ScriptedReply } from '../models/scripted';

export interface ScriptedModel extends ModelProvider {
  /** Every request it received, in order; a repeated one is listed twice. */
  readonly requests: readonly ModelRequest[];
}

const NAME = 'scriptedModel(...)';

/**
 * A model that gives these replies one after the other; a text means `{ text }`. The conversation determines the next
 * one, so one model may serve several agents. Throws `model_script_invalid`.
 */
export function scriptedModel(replies: readonly (string | ScriptedReply)[]): ScriptedModel {
  const all = replies.map((reply) => (typeof reply === 'string' ? { text: reply } : reply));
  const checked = checkedReplies(NAME, all);
  const provider = repliesProvider(NAME, () => Promise.resolve(checked));
  const requests: ModelRequest[] = [];
  return {
    requests,
    reply(request) {
      requests.push(request);
      return provider.reply(request);
    },
  };
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
