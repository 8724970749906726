// The part of a log that a person is looking at: a few windows next to each other, one loaded at a time.
import { signal } from '@preact/signals';
import { ApiProblem, isRefused, problemOf, type ProblemText } from '../api/call-api';
import { waitBefore } from '../api/event-streams';
import { isOutOfDate, windowAt, windowCount, withWindow, type LogPart, type LogWindow } from './log-windows';
import { endOfLog, findInLog, logPath, readWindow } from './read-log';
import type { SessionPath } from './terminal-socket';

/** What the scroll box has to do once it has drawn. */
export type Aim = 'start' | 'end' | 'mark' | null;

export class LogView {
  readonly windows = signal<LogWindow[]>([]);
  readonly end = signal(0);
  readonly mark = signal<LogPart | null>(null);
  readonly problem = signal<ProblemText | null>(null);
  /** How far a search has come; null when none runs. */
  readonly searchedTo = signal<number | null>(null);
  /** What the last search has not found. */
  readonly missed = signal<string | null>(null);
  aim: Aim = null;
  private readonly path: string;
  private loading: AbortController | null = null;
  private searching: AbortController | null = null;

  constructor(path: SessionPath) {
    this.path = logPath(path);
  }

  /** To an offset, or to where the log ends now. */
  async goTo(offset: number | 'end', mark: LogPart | null = null): Promise<void> {
    this.loading?.abort();
    await this.load(async (over) => {
      const end = await endOfLog(this.path, over);
      const at = offset === 'end' ? end : Math.min(offset, end);
      let found = await readWindow(this.path, windowAt(at, end), { end, signal: over });
      // The line that it is in may have begun in the window before.
      if (at < found.from) found = await readWindow(this.path, found.index - 1, { end, signal: over });
      this.end.value = end;
      this.mark.value = mark ?? (typeof offset === 'number' && at > 0 ? { from: at, to: at } : null);
      this.aim = offset === 'end' ? 'end' : at === 0 ? 'start' : 'mark';
      this.windows.value = [found];
    });
  }

  hasOlder(): boolean {
    return (this.windows.value[0]?.index ?? 0) > 0;
  }

  hasNewer(): boolean {
    return (this.windows.value.at(-1)?.index ?? Infinity) < windowCount(this.end.value) - 1;
  }

  /** The window before those that are shown, or after them. Nothing while another is being loaded. */
  async more(back: boolean): Promise<void> {
    if (this.loading || !(back ? this.hasOlder() : this.hasNewer())) return;
    const next = back ? (this.windows.value[0]?.index ?? 0) - 1 : (this.windows.value.at(-1)?.index ?? 0) + 1;
    await this.load(async (over) => {
      const end = this.end.value;
      const found = await readWindow(this.path, next, { end, signal: over });
      this.windows.value = withWindow(this.windows.value, found);
    });
  }

  /** Looks where the log ends now; the last window is read again if it has grown. */
  async catchUp(): Promise<void> {
    if (this.loading) return;
    await this.load(async (over) => {
      const end = await endOfLog(this.path, over);
      if (end === this.end.value) return;
      this.end.value = end;
      for (const old of this.windows.value.filter((one) => isOutOfDate(one, end)))
        this.windows.value = withWindow(
          this.windows.value,
          await readWindow(this.path, old.index, { end, signal: over }),
        );
    });
  }

  /** From the last match, or from what is shown. */
  async find(text: string, back: boolean): Promise<void> {
    this.cancelSearch();
    const over = new AbortController();
    this.searching = over;
    this.missed.value = null;
    let from = this.searchFrom(back);
    this.searchedTo.value = from;
    try {
      const onStep = (at: number): void => void (this.searchedTo.value = from = at);
      const match = await this.repeated(over.signal, (signal) =>
        findInLog(this.path, { text, from, back, signal, onStep }),
      );
      if (match) await this.goTo(match.from, match);
      else this.missed.value = text;
    } catch (err) {
      if (!over.signal.aborted) this.problem.value = problemOf(err);
    } finally {
      if (this.searching === over) this.cancelSearch();
    }
  }

  cancelSearch(): void {
    this.searching?.abort();
    this.searching = null;
    this.searchedTo.value = null;
  }

  close(): void {
    this.loading?.abort();
    this.cancelSearch();
  }

  private searchFrom(back: boolean): number {
    const mark = this.mark.value;
    if (mark) return back ? Math.max(0, mark.to - 1) : mark.from + 1;
    const windows = this.windows.value;
    return back ? (windows.at(-1)?.to ?? 0) : (windows[0]?.from ?? 0);
  }

  private async load(work: (over: AbortSignal) => Promise<void>): Promise<void> {
    const over = new AbortController();
    this.loading = over;
    try {
      await this.repeated(over.signal, work);
    } catch (err) {
      if (!over.signal.aborted) this.problem.value = problemOf(err);
    } finally {
      if (this.loading === over) this.loading = null;
    }
  }

  /** Until the gateway answers, or `over` aborts. */
  private async repeated<Answer>(
    over: AbortSignal,
    work: (over: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    for (let attempt = 0; ; attempt++)
      try {
        const answer = await work(over);
        this.problem.value = null;
        return answer;
      } catch (err) {
        if (over.aborted || !(err instanceof ApiProblem) || isRefused(err)) throw err;
        this.problem.value = problemOf(err);
        await pause(waitBefore(attempt), over);
      }
  }
}

/** Ends early if `over` aborts. */
const pause = (ms: number, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    over.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
