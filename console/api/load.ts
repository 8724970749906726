// Something that a page reads once, and again when asked.
import { useSignal, type Signal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { callApi, isRefused, problemOf, type ProblemText } from './call-api';
import { waitBefore } from './event-streams';

export interface Loaded<Answer> {
  /** Null before the first answer. */
  value: Signal<Answer | null>;
  problem: Signal<ProblemText | null>;
  reload: () => void;
}

interface Told<Answer> {
  answer: (answer: Answer) => void;
  problem: (problem: ProblemText) => void;
}

/** Reads until there is an answer or a refusal, ever more rarely. Returns the function that ends it. */
export function readUntilAnswered<Answer>(path: string, told: Told<Answer>): () => void {
  const over = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const read = (attempt: number): Promise<void> =>
    callApi<Answer>('GET', path, undefined, { signal: over.signal }).then(
      (answer) => {
        if (!over.signal.aborted) told.answer(answer);
      },
      (err: unknown) => {
        if (over.signal.aborted) return;
        told.problem(problemOf(err));
        if (!isRefused(err)) timer = setTimeout(() => void read(attempt + 1), waitBefore(attempt));
      },
    );
  void read(0);
  return () => {
    over.abort();
    clearTimeout(timer);
  };
}

/** Reads again every `everyMs`, if given, while the page is in view. */
export function useLoaded<Answer>(path: string, everyMs?: number): Loaded<Answer> {
  const value = useSignal<Answer | null>(null);
  const problem = useSignal<ProblemText | null>(null);
  const stop = useRef<(() => void) | undefined>(undefined);
  const reload = useCallback(() => {
    stop.current?.();
    stop.current = readUntilAnswered<Answer>(path, {
      answer: (answer) => {
        value.value = answer;
        problem.value = null;
      },
      problem: (told) => (problem.value = told),
    });
  }, [path]);
  useEffect(() => {
    reload();
    const timer =
      everyMs === undefined ? undefined : setInterval(() => !document.hidden && reload(), everyMs);
    return () => {
      clearInterval(timer);
      stop.current?.();
    };
  }, [reload, everyMs]);
  return { value, problem, reload };
}
