// A connected holder, and whether it still answers: a process may be stopped, or hang, while its socket stays open and
// the kernel buffers what is sent.
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { HolderClient, type HolderRecord } from './holder-client';
import type { Identity } from '../../system/processes/process-identity';
import { processStat } from '../../system/processes/proc';
import type { Verb, Verbs } from '../protocol';

/** Requests that are answered by then need no check. */
const FIRST_LOOK_MS = 750;
const LOOK_EVERY_MS = 1_500;
/** A holder answers within a millisecond; even on an overloaded machine this distinguishes a stopped one from a slow one. */
const STOPPED_MS = 1_500;
const SLOW_MS = 3_000;
const POLL_MS = 25;
/** Time for a holder that was just continued. */
const AGAIN_MS = 1_000;

const NOTHING_SENT = 'nothing was sent to it';
const MAY_BE_SENT = 'what was sent to it may still be carried out when it continues';

/** Polling for calls of scripts has no caller to notify. */
const UNWATCHED: readonly Verb[] = ['calls'];
/** From people at a terminal: typed input keeps its order and is sent at once, as with any terminal. */
const SENT_AT_ONCE: readonly Verb[] = ['watch', 'type', 'resize'];

interface Question {
  /** For people. */
  askedAt: number;
  /** By the steady clock: the other one may be set. */
  began: number;
  isAnswered: boolean;
}

/** The same requests as HolderClient; each rejects with `session_unreachable` when the holder stops answering. */
export class HolderPulse {
  /** A check that the holder has not answered yet. */
  private question: Question | null = null;

  constructor(
    private readonly client: HolderClient,
    private readonly record: HolderRecord,
    private readonly session: number,
  ) {}

  /** Throws like `HolderClient.connect`. */
  static async connect(record: HolderRecord, session: number): Promise<HolderPulse> {
    return new HolderPulse(await HolderClient.connect(record), record, session);
  }

  get isOpen(): boolean {
    return this.client.isOpen;
  }

  close(): void {
    this.client.close();
  }

  /**
   * Throws `session_unreachable`, which abandons the request; otherwise like `HolderClient.request`.
   * @param check throws why it must not be sent; called at the last moment, since a busy holder delays requests
   */
  async request<V extends Verb>(
    verb: V,
    body: Verbs[V]['request'],
    signal?: AbortSignal,
    check?: () => void,
  ): Promise<Verbs[V]['answer']> {
    if (UNWATCHED.includes(verb)) return this.client.request(verb, body, signal);
    // Send nothing to a holder known to be stopped: it would be carried out later, behind the caller's back.
    if (!SENT_AT_ONCE.includes(verb) && !(await this.mayBeSent())) throw this.silence(NOTHING_SENT);
    check?.();
    const given = new AbortController();
    const over = signal ? AbortSignal.any([signal, given.signal]) : given.signal;
    try {
      return await this.whileItAnswers(this.client.request(verb, body, over));
    } catch (err) {
      // Only now: each abort costs an exception with its stack, and every keystroke is a request.
      given.abort();
      throw err;
    }
  }

  private async mayBeSent(): Promise<boolean> {
    return !(this.question || isStopped(this.record.identity)) || this.answers();
  }

  /** A timer, not a race: a promise that waits for days would accumulate the races it has lost. */
  private whileItAnswers<T>(answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const look = async (): Promise<void> => {
        const answers = await this.answers();
        if (isOver) return;
        if (!answers) return reject(this.silence(MAY_BE_SENT));
        timer = setTimeout(() => void look(), LOOK_EVERY_MS);
      };
      let timer = setTimeout(() => void look(), FIRST_LOOK_MS);
      const settle = (): void => {
        isOver = true;
        clearTimeout(timer);
      };
      answer.then(
        (value) => (settle(), resolve(value)),
        (err: unknown) => (settle(), reject(err as Error)),
      );
    });
  }

  /** False if an answer is overdue. A closed connection rejects its requests itself. */
  private async answers(): Promise<boolean> {
    const question = (this.question ??= this.ask());
    const heldUpFor = (): number => performance.now() - question.began;
    let runsSince: number | null = null;
    while (!question.isAnswered) {
      const stopped = isStopped(this.record.identity);
      if (!stopped) runsSince ??= performance.now();
      const isLate = stopped
        ? heldUpFor() > STOPPED_MS
        : heldUpFor() > SLOW_MS && performance.now() - (runsSince ?? 0) > AGAIN_MS;
      // This process may have been suspended itself: read first what has arrived meanwhile.
      if (isLate && !(await settledWithin(question, POLL_MS * 2))) return false;
      await delay(POLL_MS);
    }
    return true;
  }

  private ask(): Question {
    const question = { askedAt: Date.now(), began: performance.now(), isAnswered: false };
    const answered = (): void => {
      question.isAnswered = true;
      if (this.question === question) this.question = null;
    };
    this.client.request('status', {}).then(answered, answered);
    return question;
  }

  private silence(delivered: string): HoldfastError {
    const { identity } = this.record;
    return unreachable(this.session, identity, {
      state: stateOf({ identity }),
      since: this.question?.askedAt ?? Date.now(),
      delivered,
    });
  }
}

/** For a holder that cannot be connected to. */
export const unreachedSince = (
  session: number,
  identity: Identity,
  { why, since }: { why: string; since: number },
): HoldfastError =>
  unreachable(session, identity, {
    state: isStopped(identity) ? stateOf({ identity }) : why,
    since,
    delivered: NOTHING_SENT,
  });

function unreachable(
  session: number,
  { pid }: Identity,
  { state, since, delivered }: { state: string; since: number; delivered: string },
): HoldfastError {
  const facts = { session, pid, state, since: new Date(since).toISOString(), delivered };
  return new HoldfastError('session_unreachable', facts);
}

const isStopped = ({ pid }: Identity): boolean => /^[tT]$/.test(processStat(pid)?.state ?? '');

/** The process state in words, from proc(5). */
export function stateOf({ identity }: Pick<HolderRecord, 'identity'>): string {
  const state = processStat(identity.pid)?.state ?? '?';
  switch (state) {
    case 'T':
      return 'stopped by a signal (T)';
    case 't':
      return 'stopped by a debugger (t)';
    case 'D':
      return 'held up by a disk that does not answer (D)';
    case 'R':
      return 'too busy to answer (R)';
    default:
      return `answers nothing (${state})`;
  }
}

async function settledWithin(question: Question, ms: number): Promise<boolean> {
  for (const until = performance.now() + ms; performance.now() < until && !question.isAnswered;)
    await delay(POLL_MS);
  return question.isAnswered;
}
