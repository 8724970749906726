// The life of a script's call. The holder, the host's worker and the session's workflow each follow it, and each sees
// only some of its states; docs/architecture.md shows all transitions. Pure.
import { HoldfastError } from '../errors/holdfast-error';
import type { Effects, ToolOutcome } from './tools';

export type CallState =
  /** A script waits for it. */
  | { is: 'asked' }
  /**
   * Its session keeps it. `held`: nothing of it has run, because it waits for an approval. `running`: its tool may have
   * had its effect. `slow`: its caller was notified that it takes longer, and asks for the end separately.
   */
  | { is: 'recorded' | 'held' | 'running'; slow: boolean }
  | CallEnd
  /** The script has its answer, or is gone and everybody knows. */
  | { is: 'delivered'; end: CallEnd };

type CallEnd =
  /** `recorded`: its session keeps it. Otherwise it was refused before, or this side does not know. */
  | { is: 'ended'; outcome: ToolOutcome; recorded: boolean }
  /** It is not waited for any more. */
  | { is: 'cancelled'; reason: string };

export type CallEvent =
  | { type: 'recorded' }
  | { type: 'held' }
  /** Its tool is started: whatever comes now may come after its effect. */
  | { type: 'begun' }
  | { type: 'slow' }
  | { type: 'ended'; outcome: ToolOutcome }
  | { type: 'cancelled'; reason: string }
  | { type: 'delivered' };

export const ASKED: CallState = { is: 'asked' };

/** An event that does not apply changes nothing. The first end counts, and only its delivery follows. */
export function nextCallState(state: CallState, event: CallEvent): CallState {
  switch (event.type) {
    case 'recorded':
      return state.is === 'asked' ? { is: 'recorded', slow: false } : state;
    case 'held':
      return state.is === 'recorded' || state.is === 'running' ? { is: 'held', slow: state.slow } : state;
    case 'begun':
      return state.is === 'recorded' || state.is === 'held' ? { is: 'running', slow: state.slow } : state;
    case 'slow':
      return 'slow' in state && !state.slow ? { ...state, slow: true } : state;
    case 'ended':
      return isOpen(state) ? { is: 'ended', outcome: event.outcome, recorded: state.is !== 'asked' } : state;
    case 'cancelled':
      return isOpen(state) ? { is: 'cancelled', reason: event.reason } : state;
    case 'delivered':
      return state.is === 'ended' || state.is === 'cancelled' ? { is: 'delivered', end: state } : state;
  }
}

/** Changes the state of a call; false if the event does not apply. */
export function advance(call: { state: CallState }, event: CallEvent): boolean {
  const before = call.state;
  call.state = nextCallState(before, event);
  return call.state !== before;
}

/** Whether somebody waits for its end: it may still be cancelled. */
export const isOpen = (state: CallState): boolean => state.is === 'asked' || 'slow' in state;

/** Whether its caller asks for its end separately. */
export const isSlow = (state: CallState): boolean => 'slow' in state && state.slow;

/** Whether its session keeps it until it hears of the delivery, as far as this side knows. */
export const isKept = (state: CallState): boolean =>
  'slow' in state || (state.is === 'ended' && state.recorded);

/** Whether a new run of its session may start it: one that may run only once is not started a second time. */
export const mayStart = (state: CallState, effects: Effects): boolean =>
  'slow' in state && !(state.is === 'running' && effects === 'once');

/** Null while it is open. */
export function outcomeOf(state: CallState, tool: string): ToolOutcome | null {
  const end = state.is === 'delivered' ? state.end : state;
  if (end.is === 'ended') return end.outcome;
  if (end.is !== 'cancelled') return null;
  return new HoldfastError('call_cancelled', { tool, reason: end.reason }).toOutcome();
}
