// A script's call as its session keeps it, and as the next run of the session receives it.
import { outcomeOf, type CallState } from '../../contracts/tools/call-state';
import { ownValue, setOwn } from '../../contracts/own';
import { jsonBytes } from '../../contracts/payload-size';
import type { ToolCallRequest, ToolOutcome } from '../../contracts/tools/tools';

/** Continue-as-new carries calls in one payload of at most 2 MB, with queued inputs and a command's code. */
const MAX_CARRIED_BYTES = 400_000;

export interface SessionCall {
  request: Omit<ToolCallRequest, 'answered'>;
  state: CallState;
  /** Hash of the call's content; undefined for one that was cancelled before it came. */
  hash: string | undefined;
}

export type SessionCalls = Record<string, SessionCall>;

export interface CallRecord {
  request: SessionCall['request'];
  /** Null while it is open. */
  outcome: ToolOutcome | null;
  hash?: string | undefined;
  /** Someone was asked about it and approved it. */
  isApproved?: boolean;
}

export type CallRecords = Record<string, CallRecord>;

/** What a call is recorded as if it does not fit. */
type Lost = (call: SessionCall) => ToolOutcome;

export function readCalls(records: CallRecords): SessionCalls {
  const calls: SessionCalls = {};
  for (const [id, { request, outcome, hash, isApproved }] of Object.entries(records))
    setOwn(calls, id, { request, state: stateOf(request, outcome, isApproved === true), hash });
  return calls;
}

function stateOf(
  { hold }: CallRecord['request'],
  outcome: ToolOutcome | null,
  isApproved: boolean,
): CallState {
  if (outcome) return { is: 'ended', outcome, recorded: true };
  return { is: hold && !isApproved ? 'held' : 'running', slow: false };
}

/** The oldest calls are recorded as lost if not all fit; those that were cancelled before they came are then forgotten. */
export function carriedCalls(calls: SessionCalls, lost: Lost): CallRecords {
  let bytes = 0;
  const fitting: CallRecords = {};
  for (const [id, call] of Object.entries(calls).reverse()) {
    const record = recordOf(call);
    const size = jsonBytes(record);
    // One that is too large costs no other its place.
    if (bytes + size > MAX_CARRIED_BYTES) continue;
    bytes += size;
    setOwn(fitting, id, record);
  }
  const carried: CallRecords = {};
  for (const [id, call] of Object.entries(calls)) {
    const record = ownValue(fitting, id);
    // One that was cancelled before it came has no tool.
    if (!record && call.request.tool === '') continue;
    setOwn(carried, id, record ?? { ...recordOf(call), outcome: lost(call), request: withoutArgs(call) });
  }
  return carried;
}

function recordOf({ request, state, hash }: SessionCall): CallRecord {
  const isApproved = state.is === 'running' && request.hold !== undefined;
  // A call that was cancelled before it came has only an id.
  const outcome = outcomeOf(state, request.tool || request.id);
  return { request, outcome, ...(hash !== undefined && { hash }), ...(isApproved && { isApproved }) };
}

/** Of a call that has ended, so that continue-as-new need not carry them. */
export const withoutArgs = ({ request }: SessionCall): SessionCall['request'] => ({ ...request, args: {} });
