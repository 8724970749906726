// Has a model sum up a conversation, of which nothing else remains visible: half a summary, or a refusal, would lose it.
import type { Usage } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { Compaction, SummaryProgress, WrittenSummary } from '../../contracts/models/model-call';
import { addUsage } from '../../contracts/models/usage';
import { fitText } from '../../contracts/payload-size';
import { MAX_SUMMARY_BYTES, type SummaryRequest } from '../../models/compaction';
import { withoutThinking } from '../../models/dialects/thinking';
import type { RawReply } from '../../models/provider';

const MAX_REFUSAL_BYTES = 1_000;

export interface SummaryWork {
  /** What the attempts before have reached. */
  progress: SummaryProgress;
  ask: (request: SummaryRequest) => Promise<RawReply>;
  /** Keeps it for the next attempt. */
  keep: (progress: SummaryProgress) => void;
  /** Counts the last of these requests; the same again changes nothing. */
  count: (used: SummaryProgress['used']) => Promise<void>;
  /** Whether the longest summary that was cut off is better than this error. */
  takesCut: (err: unknown) => boolean;
}

/**
 * The first whole summary; a later request is made when an earlier one left the model no room. Throws `model_failed` for a
 * reply that is none, and what `ask` throws, with the usage of all requests among the facts.
 */
export async function summaryOf(requests: Iterable<SummaryRequest>, work: SummaryWork): Promise<Compaction> {
  let { progress } = work;
  try {
    // The attempt before may have ended in between.
    await work.count(progress.used);
    let fault = unusable('no summary of it is whole');
    for (const request of [...requests].slice(progress.used.length)) {
      if (isWhole(progress.best)) break;
      const outcome = await outcomeOf(() => work.ask(request));
      const best = longer(progress.best, outcome.summary);
      progress = { used: [...progress.used, outcome.usage ?? null], ...(best && { best }) };
      work.keep(progress);
      await work.count(progress.used);
      fault = outcome.fault ?? fault;
      if (outcome.isFinal) break;
    }
    if (!isWhole(progress.best)) throw fault;
    return resultOf(progress);
  } catch (err) {
    if (progress.best && work.takesCut(err)) return resultOf(progress);
    const usage = usageOf(progress);
    throw err instanceof HoldfastError && usage ? err.withFacts({ ...usage }) : err;
  }
}

interface Outcome {
  usage?: Usage | undefined;
  summary?: WrittenSummary;
  /** Why there is no whole summary. */
  fault?: HoldfastError;
  /** A request with less text would not help. */
  isFinal?: true;
}

async function outcomeOf(ask: () => Promise<RawReply>): Promise<Outcome> {
  let reply: RawReply;
  try {
    reply = await ask();
  } catch (fault) {
    if (!(fault instanceof HoldfastError) || fault.code !== 'model_context_length') throw fault;
    return { fault };
  }
  const { usage, isCut, isRefusal } = reply;
  const text = withoutThinking(reply.text);
  const refused = `it refused to sum up: ${fitText(text, MAX_REFUSAL_BYTES)}`;
  if (isRefusal) return { usage, fault: unusable(refused), isFinal: true };
  const summary =
    text === '' ? {} : { summary: { text: fitText(text, MAX_SUMMARY_BYTES), ...(isCut && { isCut }) } };
  if (isCut)
    return {
      usage,
      ...summary,
      fault: unusable('its summary was cut off at the length limit of its replies'),
    };
  // Providers refuse a message without text.
  if (text === '') return { usage, fault: unusable('its summary was empty'), isFinal: true };
  return { usage, ...summary };
}

const isWhole = (one: WrittenSummary | undefined): boolean => one !== undefined && !one.isCut;

/** The whole one, or the longer one of two that were cut off. */
function longer(
  one: WrittenSummary | undefined,
  other: WrittenSummary | undefined,
): WrittenSummary | undefined {
  if (!one || !other) return one ?? other;
  return isWhole(other) || other.text.length > one.text.length ? other : one;
}

const usageOf = ({ used }: SummaryProgress): Usage | null => used.reduce(addUsage, null);

function resultOf(progress: SummaryProgress): Compaction {
  const usage = usageOf(progress);
  return { text: '', ...progress.best, ...(usage && { usage }) };
}

const unusable = (reason: string): HoldfastError => new HoldfastError('model_failed', { reason });
