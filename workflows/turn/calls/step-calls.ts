// The calls of one reply: independent ones run in parallel, those of one session in their order, and those that refer to
// others as soon as these are done.
import type { ToolCall, ToolResult } from '../../../contracts/agents/agent';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { failedCall } from '../../../contracts/tools/failed-call';
import { setOwn } from '../../../contracts/own';
import { jsonBytes } from '../../../contracts/payload-size';
import { resolveReferences, withoutEscapes } from '../../../contracts/agents/references';
import type { JsonValue } from '../../../contracts/tools/tools';

/** `isReferredTo`: the result's value is needed, too. */
type RunCall = (call: ToolCall, isReferredTo: boolean) => Promise<ToolResult>;

/** Limit for all calls' arguments with references resolved: they are recorded, and may all start at once. */
const MAX_RESOLVED_BYTES = 1_000_000;

/**
 * The calls in their order, all of them begun. The dialect has already refused dangling references, and those to later calls.
 * A session has one terminal: what is typed there, and which command is first, is not left to chance.
 */
export function runCalls(
  calls: readonly ToolCall[],
  run: RunCall,
  sessionOf: (call: ToolCall) => number | undefined,
): Promise<ToolResult>[] {
  const room = { bytes: MAX_RESOLVED_BYTES };
  const wanted = new Set(calls.flatMap(({ needs = [] }) => needs));
  const started = new Map<string, Promise<ToolResult>>();
  const lastOf = new Map<number, Promise<ToolResult>>();
  const sessions = calls.map(sessionOf);
  for (const [index, call] of calls.entries()) {
    const session = sessions[index];
    const before = session === undefined ? undefined : lastOf.get(session);
    const begin = (made: ToolCall): Promise<ToolResult> => {
      const begun = (): Promise<ToolResult> => run(made, wanted.has(call.callId));
      return before ? before.then(begun) : begun();
    };
    const result = call.needs?.length ? after(call, started, begin, room) : begin(withoutEscapes(call));
    started.set(call.callId, result);
    if (session !== undefined) lastOf.set(session, result);
  }
  return [...started.values()];
}

async function after(
  call: ToolCall,
  started: ReadonlyMap<string, Promise<ToolResult>>,
  run: (call: ToolCall) => Promise<ToolResult>,
  room: { bytes: number },
): Promise<ToolResult> {
  const values: Record<string, JsonValue> = {};
  for (const id of call.needs ?? []) {
    const result = await started.get(id);
    if (!result || result.isError || result.value === undefined) {
      const reason = !result || result.isError ? 'which failed' : 'which is too large to pass on';
      return failedCall(call, new HoldfastError('dependency_failed', { got: id, reason }));
    }
    setOwn(values, id, result.value);
  }
  const resolved = resolveReferences(call.args, values);
  if ('fault' in resolved) {
    const facts = {
      got: idsOf(call),
      reason: `and what it names does not exist: ${resolved.fault}`,
    };
    return failedCall(call, new HoldfastError('dependency_failed', facts));
  }
  const bytes = jsonBytes(resolved.args);
  if (bytes > room.bytes) {
    const reason =
      `and with its references resolved its arguments are ${bytes} bytes, allowed ${room.bytes} ` +
      `of ${MAX_RESOLVED_BYTES} for all calls of a reply`;
    return failedCall(call, new HoldfastError('dependency_failed', { got: idsOf(call), reason }));
  }
  room.bytes -= bytes;
  return run({ ...call, args: resolved.args });
}

const idsOf = ({ needs = [] }: ToolCall): string => needs.join(', ');
