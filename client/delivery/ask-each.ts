// Asks many the same. One that does not answer neither delays the others' answers nor hides them.
import { setTimeout as delay } from 'node:timers/promises';

/** What is wrong with a workflow, or with its worker, is found after four seconds at the earliest. */
export const LATE_MS = 5_000;

export interface Asked<One, Answer> {
  answers: Answer[];
  unanswered: Unanswered<One>[];
}

export interface Unanswered<One> {
  one: One;
  /** Its error; undefined if it has only not answered in time. */
  reason: unknown;
}

interface AskEachOptions {
  /** Where none has answered after five seconds: waits on for the first answer, or for all errors. Default false. */
  untilOneAnswers?: boolean;
}

/** Takes five seconds at most, or as long as all need to answer. */
export async function askEach<One, Answer>(
  all: readonly One[],
  ask: (one: One) => Promise<Answer>,
  { untilOneAnswers = false }: AskEachOptions = {},
): Promise<Asked<One, Answer>> {
  const answered = new Map<One, Answer>();
  const reasons = new Map<One, unknown>();
  let hear = (): void => undefined;
  const firstAnswer = new Promise<void>((resolve) => (hear = resolve));
  const allSettled = Promise.all(
    all.map(async (one) => {
      try {
        answered.set(one, await ask(one));
        hear();
      } catch (err) {
        reasons.set(one, err);
      }
    }),
  );
  const over = new AbortController();
  const late = delay(LATE_MS, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([allSettled, late]);
  over.abort();
  if (untilOneAnswers) await Promise.race([allSettled, firstAnswer]);
  return {
    answers: [...answered.values()],
    unanswered: all.filter((one) => !answered.has(one)).map((one) => ({ one, reason: reasons.get(one) })),
  };
}
