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

interface Listener<Answer> {
  answer: (answer: Answer) => void;
  problem: (problem: ProblemText) => void;
}

/**
 * Reads until there is an answer or a refusal, ever more rarely; and anew when asked. One request at a time: if each ended
 * the one before, an answer that takes longer than the pause between them would never be there.
 */
export class Reading<Answer> {
  private readonly over = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private attempt = 0;
  private state: 'idle' | 'asked' | 'reading' | 'again' = 'idle';

  constructor(
    private readonly ask: (signal: AbortSignal) => Promise<Answer>,
    private readonly listener: Listener<Answer>,
  ) {
    this.readAnew();
  }

  /** After the request that is under way: its answer may be older than what is to be seen. */
  readAnew(): void {
    this.attempt = 0;
    if (this.state === 'reading') this.state = 'again';
    if (this.state !== 'idle') return;
    clearTimeout(this.timer);
    this.state = 'asked';
    // All that asks at the same moment is answered by one request.
    queueMicrotask(() => void this.read());
  }

  /** Not if a request is under way, or waits to be repeated. */
  refresh(): void {
    if (this.state === 'idle' && this.timer === undefined) this.readAnew();
  }

  end(): void {
    this.over.abort();
    clearTimeout(this.timer);
  }

  private async read(): Promise<void> {
    const { signal } = this.over;
    if (signal.aborted) return;
    this.timer = undefined;
    this.state = 'reading';
    let fault: unknown;
    try {
      const answer = await this.ask(signal);
      if (!signal.aborted) this.listener.answer(answer);
    } catch (err) {
      if (!signal.aborted) this.listener.problem(problemOf(err));
      fault = err;
    }
    if (!signal.aborted) this.goOn(fault);
  }

  private goOn(fault: unknown): void {
    const isWanted = this.state === 'again';
    this.state = 'idle';
    if (isWanted) this.readAnew();
    else if (fault !== undefined && !isRefused(fault))
      this.timer = setTimeout(() => void this.read(), waitBefore(this.attempt++));
  }
}

/** Reads again every `everyMs`, if given, while the page is in view. */
export function useLoaded<Answer>(path: string, everyMs?: number): Loaded<Answer> {
  const value = useSignal<Answer | null>(null);
  const problem = useSignal<ProblemText | null>(null);
  const reading = useRef<Reading<Answer> | undefined>(undefined);
  useEffect(() => {
    const current = new Reading<Answer>((signal) => callApi('GET', path, undefined, { signal }), {
      answer: (answer) => {
        value.value = answer;
        problem.value = null;
      },
      problem: (found) => (problem.value = found),
    });
    reading.current = current;
    const look = (): void => void (document.hidden || current.refresh());
    const timer = everyMs === undefined ? undefined : setInterval(look, everyMs);
    return () => {
      clearInterval(timer);
      current.end();
    };
  }, [path, everyMs]);
  const reload = useCallback(() => reading.current?.readAnew(), []);
  return { value, problem, reload };
}
