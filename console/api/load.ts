// Something that a page reads once, and again when asked.
import { useSignal, type Signal } from '@preact/signals';
import { useCallback, useEffect } from 'preact/hooks';
import { callApi, problemOf, type ProblemText } from './call-api';

export interface Loaded<Answer> {
  /** Null before the first answer. */
  value: Signal<Answer | null>;
  problem: Signal<ProblemText | null>;
  reload: () => void;
}

/** Reads again every `everyMs`, if given, while the page is in view. */
export function useLoaded<Answer>(path: string, everyMs?: number): Loaded<Answer> {
  const value = useSignal<Answer | null>(null);
  const problem = useSignal<ProblemText | null>(null);
  const reload = useCallback(() => {
    callApi<Answer>('GET', path).then(
      (answer) => {
        value.value = answer;
        problem.value = null;
      },
      (err: unknown) => (problem.value = problemOf(err)),
    );
  }, [path]);
  useEffect(() => {
    reload();
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => !document.hidden && reload(), everyMs);
    return () => clearInterval(timer);
  }, [reload, everyMs]);
  return { value, problem, reload };
}
