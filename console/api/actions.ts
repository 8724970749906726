// What a person does, with the problem it met.
import { useSignal, type Signal } from '@preact/signals';
import { problemOf, type ProblemText } from './call-api';

export interface Action {
  isRunning: Signal<boolean>;
  problem: Signal<ProblemText | null>;
  /** One at a time; returns whether it succeeded. */
  run: (act: () => Promise<unknown>) => Promise<boolean>;
}

export function useAction(): Action {
  const isRunning = useSignal(false);
  const problem = useSignal<ProblemText | null>(null);
  const run = async (act: () => Promise<unknown>): Promise<boolean> => {
    if (isRunning.value) return false;
    isRunning.value = true;
    problem.value = null;
    try {
      await act();
      return true;
    } catch (err) {
      problem.value = problemOf(err);
      return false;
    } finally {
      isRunning.value = false;
    }
  };
  return { isRunning, problem, run };
}
