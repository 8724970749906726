// What a provider answered, before anything relies on it: a provider may be anyone's code, and what it answers goes into
// histories, which cannot be corrected.
import * as z from 'zod/mini';
import type { Usage } from '../contracts/agents/agent';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { parseWith } from '../contracts/schemas/parse';
import { wellFormed } from '../contracts/text/well-formed';
import type { RawReply } from './provider';

const whole = z.int().check(z.minimum(0));
const usageSchema = z.object({
  inputTokens: whole,
  outputTokens: whole,
  cachedTokens: z._default(whole, 0),
  costUsd: z._default(z.nullable(z.number().check(z.minimum(0))), null),
}) satisfies z.ZodMiniType<Usage>;
const replySchema = z.object({
  text: z.string(),
  calls: z.optional(
    z.array(
      z.object({
        // Some compatible servers send none: the dialect then numbers the calls.
        id: z.optional(z.nullable(z.string())),
        tool: z.string(),
        args: z.string(),
      }),
    ),
  ),
  isCut: z.optional(z.boolean()),
  cutBy: z.optional(z.string()),
  isRefusal: z.optional(z.boolean()),
  usage: z.optional(z.nullable(usageSchema)),
  extras: z.optional(z.record(z.string(), z.unknown())),
});

const REPLY =
  '{ text }, with `calls` ({ id, tool, args: JSON text }), `isCut`, `isRefusal`, `extras` and `usage` where there are any; a usage is ' +
  '{ inputTokens, outputTokens } in whole numbers, with `cachedTokens` and `costUsd` where they are known';

/**
 * The reply of `provider:name`, with everything that a usage has. Throws `model_failed` for one that cannot be used: the
 * same code would give it again.
 */
export function checkedReply(model: string, reply: unknown): RawReply {
  const { text, calls, isCut, cutBy, isRefusal, usage, extras } = wellFormed(readReply(model, reply));
  return {
    text,
    ...(calls && { calls: calls.map(({ id, tool, args }) => ({ id: id ?? '', tool, args })) }),
    ...(isCut && { isCut, ...(cutBy !== undefined && { cutBy }) }),
    ...(isRefusal && { isRefusal }),
    ...(usage && { usage }),
    ...(extras && { extras }),
  };
}

function readReply(model: string, reply: unknown): z.output<typeof replySchema> {
  try {
    return parseWith(replySchema, 'The reply', reply);
  } catch (err) {
    const fault =
      err instanceof HoldfastError
        ? `got ${String(err.facts.got)}, allowed ${String(err.facts.allowed)}`
        : reasonOf(err);
    const reason = `the provider of ${model} gave a reply that cannot be used: ${fault}. A reply is ${REPLY}.`;
    throw new HoldfastError('model_failed', { reason });
  }
}
