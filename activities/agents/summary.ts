// Has a model sum up a conversation, of which nothing else remains visible: half a summary, or a refusal, would lose it.
import type { Usage } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Compaction } from '../../contracts/models/model-call';
import { addUsage } from '../../contracts/models/usage';
import { fitText } from '../../contracts/payload-size';
import { MAX_SUMMARY_BYTES, type SummaryRequest } from '../../models/compaction';
import { withoutThinking } from '../../models/dialects/thinking';
import type { RawReply } from '../../models/provider';

const MAX_REFUSAL_BYTES = 1_000;

/**
 * The first whole summary; a later request is made when an earlier one left the model no room. Throws `model_failed` for a
 * reply that is none, and what `ask` throws.
 */
export async function summaryOf(
  requests: Iterable<SummaryRequest>,
  ask: (request: SummaryRequest) => Promise<RawReply>,
): Promise<Compaction> {
  let usage: Usage | null = null;
  let fault: HoldfastError | undefined;
  for (const request of requests) {
    let reply: RawReply;
    try {
      reply = await ask(request);
    } catch (err) {
      if (!(err instanceof HoldfastError) || err.code !== 'model_context_length') throw err;
      fault = err;
      continue;
    }
    usage = addUsage(usage, reply.usage);
    if (!reply.isCut) return { text: fitText(textOf(reply), MAX_SUMMARY_BYTES), ...(usage && { usage }) };
    fault = unusable('its summary was cut off at the length limit of its replies');
  }
  throw fault ?? unusable('there is nothing to sum up');
}

function textOf(reply: RawReply): string {
  const text = withoutThinking(reply.text);
  if (reply.isRefusal) throw unusable(`it refused to sum up: ${fitText(text, MAX_REFUSAL_BYTES)}`);
  // Providers refuse a message without text.
  if (text === '') throw unusable('its summary was empty');
  return text;
}

const unusable = (reason: string): HoldfastError => new HoldfastError('model_failed', { reason });
