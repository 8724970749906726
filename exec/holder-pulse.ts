// One holder that was reached, and whether it still answers: a process may be stopped, or hang, while its socket stays
// open and the kernel takes what is sent.
import { setTimeout as delay } from 'node:timers/promises';
import { HoldfastError } from '../contracts/errors';
import { HolderClient, type HolderRecord } from './holder-client';
import { processStat } from './proc';
import type { Verb, Verbs } from './protocol';

/** What has its answer by then costs no look. */
const FIRST_LOOK_MS = 750;
const LOOK_EVERY_MS = 1_500;
/** A holder answers within a millisecond; on a machine that is overloaded a stopped one is still told from a slow one. */
const STOPPED_MS = 1_500;
const SLOW_MS = 3_000;
const POLL_MS = 25;
/** So long one has that was just continued. */
const AGAIN_MS = 1_000;

const NOTHING_SENT = 'nothing was sent to it';
const MAY_BE_SENT = 'what was sent to it may still be carried out when it goes on';

/** What waits here for calls of scripts has no caller who has to be told. */
const UNWATCHED: readonly Verb[] = ['calls'];
/** Of people at a terminal: what they type keeps its order and is sent at once, as to any terminal. */
const SENT_AT_ONCE: readonly Verb[] = ['watch', 'type', 'resize'];

interface Question {
  askedAt: number;
  isAnswered: boolean;
}

/** Same requests as a HolderClient's; each rejects with `session_unreachable` when the holder stops answering. */
export class HolderPulse {
  /** A look that the holder has not answered yet. */
  private question: Question | null = null;

  constructor(
    private readonly client: HolderClient,
    private readonly record: HolderRecord,
    private readonly session: number,
  ) {}

  /** Throws as `HolderClient.connect`. */
  static async connect(record: HolderRecord, session: number): Promise<HolderPulse> {
    return new HolderPulse(await HolderClient.connect(record), record, session);
  }

  get isOpen(): boolean {
    return this.client.isOpen;
  }

  close(): void {
    this.client.close();
  }

  /** Throws `session_unreachable`, with which the request is dropped here; else as `HolderClient.request`. */
  async request<V extends Verb>(
    verb: V,
    body: Verbs[V]['request'],
    signal?: AbortSignal,
  ): Promise<Verbs[V]['answer']> {
    if (UNWATCHED.includes(verb)) return this.client.request(verb, body, signal);
    // To one that is known to be stopped nothing is sent: it would be carried out behind the caller's back.
    if (!SENT_AT_ONCE.includes(verb) && !(await this.mayBeSent())) throw this.silence(NOTHING_SENT);
    const given = new AbortController();
    const over = signal ? AbortSignal.any([signal, given.signal]) : given.signal;
    try {
      return await this.whileItAnswers(this.client.request(verb, body, over));
    } finally {
      given.abort();
    }
  }

  private async mayBeSent(): Promise<boolean> {
    return !(this.question || isStopped(this.record)) || this.answers();
  }

  /** A timer instead of a race: one that waits for days would gather the races it has lost. */
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

  /** False when the holder owes an answer for too long. A connection that closes tells its requests itself. */
  private async answers(): Promise<boolean> {
    const question = (this.question ??= this.ask());
    const heldUpFor = (): number => Date.now() - question.askedAt;
    let runsSince: number | null = null;
    while (!question.isAnswered) {
      const stopped = isStopped(this.record);
      if (!stopped) runsSince ??= Date.now();
      const isLate = stopped
        ? heldUpFor() > STOPPED_MS
        : heldUpFor() > SLOW_MS && Date.now() - (runsSince ?? 0) > AGAIN_MS;
      // This process may have been held up itself: what has arrived meanwhile is read first.
      if (isLate && !(await settledWithin(question, POLL_MS * 2))) return false;
      await delay(POLL_MS);
    }
    return true;
  }

  private ask(): Question {
    const question = { askedAt: Date.now(), isAnswered: false };
    const answered = (): void => {
      question.isAnswered = true;
      if (this.question === question) this.question = null;
    };
    this.client.request('status', {}).then(answered, answered);
    return question;
  }

  private silence(delivered: string): HoldfastError {
    return unreachable(this.session, this.record, {
      state: stateOf(this.record),
      since: this.question?.askedAt ?? Date.now(),
      delivered,
    });
  }
}

/** Of one that no connection comes about with. */
export const unreachedSince = (
  session: number,
  record: HolderRecord,
  { why, since }: { why: string; since: number },
): HoldfastError =>
  unreachable(session, record, {
    state: isStopped(record) ? stateOf(record) : why,
    since,
    delivered: NOTHING_SENT,
  });

function unreachable(
  session: number,
  { identity }: HolderRecord,
  { state, since, delivered }: { state: string; since: number; delivered: string },
): HoldfastError {
  const facts = { session, pid: identity.pid, state, since: new Date(since).toISOString(), delivered };
  return new HoldfastError('session_unreachable', facts);
}

const isStopped = ({ identity }: HolderRecord): boolean =>
  /^[tT]$/.test(processStat(identity.pid)?.state ?? '');

/** In words, by proc(5). */
function stateOf({ identity }: HolderRecord): string {
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
  for (const until = Date.now() + ms; Date.now() < until && !question.isAnswered;) await delay(POLL_MS);
  return question.isAnswered;
}
