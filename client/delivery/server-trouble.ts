// Whether the Temporal server answers, for probes: asked at most once a second, however often one looks.
import { reasonOf } from '../../contracts/errors/holdfast-error';
import type { HoldfastClient } from '../holdfast-client';

const PATIENCE_MS = 2_000;
const FRESH_MS = 1_000;

const answers = new WeakMap<HoldfastClient, { at: number; answer: Promise<string | null> }>();

/** Why it does not answer; null if it does. Takes two seconds at most. */
export function serverTrouble(client: HoldfastClient): Promise<string | null> {
  const known = answers.get(client);
  if (known && performance.now() - known.at < FRESH_MS) return known.answer;
  const answer = ask(client);
  answers.set(client, { at: performance.now(), answer });
  return answer;
}

async function ask({ temporal, address }: HoldfastClient): Promise<string | null> {
  let giveUp: NodeJS.Timeout | undefined;
  // The deadline of a call does not end the pause before a retry.
  const late = new Promise<never>((_resolve, reject) => {
    giveUp = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS} ms`)), PATIENCE_MS);
  });
  try {
    const asked = temporal.withDeadline(Date.now() + PATIENCE_MS, () =>
      temporal.workflowService.describeNamespace({ namespace: temporal.options.namespace }),
    );
    await Promise.race([asked, late]);
    return null;
  } catch (err) {
    return `the Temporal server at ${address} does not answer: ${reasonOf(err)}`;
  } finally {
    clearTimeout(giveUp);
  }
}
