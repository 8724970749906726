// Waits for sessions, for clients of the API. A wait takes one of its host's places for activities until it is over, whether
// or not its client is still there. So a long one is made of slices, and a token has only so many waits.
import { randomUUID } from 'node:crypto';
import type { SessionHandle } from '../client/session-handle';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import type { WaitRequest } from '../contracts/schemas/session';
import type { CommandView, WaitResult } from '../contracts/sessions/session';

const SLICE_MS = 5 * 60_000;
const MAX_WAITS = 20;

export interface Waiter {
  /** Id of the token. */
  caller: string;
  /** The first slice has it as its id: the same wait again gets the same answers. */
  key: string | undefined;
  /** Whether its client still wants the next slice. Throws if it may not have one. */
  goesOn: () => boolean;
}

type Target = Exclude<NonNullable<WaitRequest['sessions']>[number], number>;

export class Waits {
  /** What each token waits for: the same wait, sent again, is one. */
  private readonly underWay = new Map<string, string[]>();

  /** Throws `resources_exhausted`, and what `SessionHandle.wait` throws. */
  async wait(
    session: Pick<SessionHandle, 'ref' | 'workflowId' | 'wait'>,
    request: WaitRequest,
    waiter: Waiter,
  ): Promise<WaitResult> {
    const leave = this.enter(waiter.caller, `${session.workflowId} ${waiter.key ?? randomUUID()}`);
    try {
      return await inSlices(session, request, waiter);
    } finally {
      leave();
    }
  }

  /** Until the returned function is called. */
  private enter(caller: string, wait: string): () => void {
    const waits = this.underWay.get(caller) ?? [];
    if (!waits.includes(wait) && new Set(waits).size >= MAX_WAITS)
      throw new HoldfastError('resources_exhausted', {
        ...{
          resource: 'waits of this token',
          reason: `${MAX_WAITS} are under way, the most that are allowed`,
        },
        done: 'nothing was done',
        next:
          'Wait for several sessions with one request, or try again when one of these has ended: one that its client has left ' +
          'ends within 5 minutes.',
      });
    waits.push(wait);
    this.underWay.set(caller, waits);
    return () => {
      waits.splice(waits.indexOf(wait), 1);
      if (waits.length === 0) this.underWay.delete(caller);
    };
  }
}

/**
 * Each slice asks only for what has not come yet. Their lengths do not depend on the clock: with a key, those that have
 * ended answer at once.
 */
async function inSlices(
  session: Pick<SessionHandle, 'ref' | 'wait'>,
  request: WaitRequest,
  { key, goesOn }: Waiter,
): Promise<WaitResult> {
  const { waitMs = 0, sessions: targets = [session.ref.session] } = request;
  if (waitMs <= SLICE_MS) return session.wait(request, key);
  const answers: WaitResult['sessions'] = [];
  let open = targets.map((target, place): [Target, number] => [
    typeof target === 'number' ? { session: target } : target,
    place,
  ]);
  for (let n = 1, leftMs = waitMs; ; n++, leftMs -= SLICE_MS) {
    const id = key && n > 1 ? `${key}/slice-${n}` : key;
    const sessions = open.map(([target]) => target);
    const slice = await session.wait({ ...request, sessions, waitMs: Math.min(leftMs, SLICE_MS) }, id);
    const next: typeof open = [];
    open.forEach(([target, place], index) => {
      const answer = slice.sessions[index];
      if (!answer) return;
      answers[place] = answer;
      if (answer.reason === 'timeout') next.push([goneOn(target, request, answer.view), place]);
    });
    if (slice.met || leftMs <= SLICE_MS || !goesOn()) return { met: slice.met, sessions: answers };
    open = next;
  }
}

/** What is printed between two slices is new to the second. */
const goneOn = (target: Target, { for: wait }: WaitRequest, { to }: CommandView): Target =>
  wait === 'output' ? { ...target, from: target.from ?? to } : target;
