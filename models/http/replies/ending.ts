// How a reply ended, by the reason that its server gives. Every server has names of its own: a name that is not known to
// mean "done" is no end of an answer. Pure.
import { ReportedError } from '../classify-error';
import type { WireReply } from '../wire-protocol';
import { refusal } from '../../model-refusal';
import { textOf } from './untrusted';

const DONE = new Set([
  ...['stop', 'end_turn', 'stop_sequence', 'eos', 'eos_token', 'end', 'complete', 'completed', 'done'],
  ...['tool_calls', 'tool_call', 'tool_use', 'function_call', 'function_calls'],
]);
const AT_LIMIT = new Set([
  ...['length', 'max_tokens', 'max_output_tokens', 'max_completion_tokens', 'model_length', 'token_limit'],
  ...['context_length', 'context_length_exceeded', 'model_context_window_exceeded'],
]);
const REFUSED = new Set([
  ...['content_filter', 'refusal', 'safety', 'recitation', 'blocklist', 'prohibited_content', 'spii'],
  ...['sensitive', 'guardrail_intervened'],
]);

/** What is no fault of the reply, and may pass. */
const OF_SERVER = /error|resource|overload|abort|cancel|network|unavailable|time_?out/;

/** The reply as its ending makes it. Throws ReportedError for one that broke off before it said anything: nothing is lost. */
export function ended(reply: WireReply, reason: unknown): WireReply {
  const name = textOf(reason);
  const plain = name.toLowerCase().replaceAll('-', '_');
  // Some servers leave it out.
  if (name === '' || DONE.has(plain)) return reply;
  if (AT_LIMIT.has(plain)) return { ...reply, isCut: true };
  const { text, calls = [], tokens, extras } = reply;
  if (REFUSED.has(plain)) return { ...refusal(text, name), tokens, extras };
  if (OF_SERVER.test(plain) && text.trim() === '' && calls.length === 0 && !tokens?.output)
    throw new ReportedError({
      code: name,
      message: `it broke off its reply with the reason ${JSON.stringify(name)}`,
    });
  return { ...reply, isCut: true, cutBy: name };
}
