// The calls of one reply: independent ones run in parallel, each of the others as soon as what it refers to is there.
import type { ToolCall, ToolResult } from '../contracts/agent';
import { HoldfastError } from '../contracts/errors';
import { resolveReferences } from '../contracts/references';
import type { JsonValue } from '../contracts/tools';

/** `isReferredTo`: the result's value is wanted, too. */
type RunCall = (call: ToolCall, isReferredTo: boolean) => Promise<ToolResult>;

/** The results in the order of the calls. A dialect has refused references that lead nowhere. */
export function runCalls(calls: readonly ToolCall[], run: RunCall): Promise<ToolResult[]> {
  const wanted = new Set(calls.flatMap(({ needs = [] }) => needs));
  const started = new Map<string, Promise<ToolResult>>();
  for (const call of calls) {
    const result = call.needs?.length
      ? after(call, started, run, wanted)
      : run(unescaped(call), wanted.has(call.callId));
    started.set(call.callId, result);
  }
  return Promise.all(started.values());
}

async function after(
  call: ToolCall,
  started: ReadonlyMap<string, Promise<ToolResult>>,
  run: RunCall,
  wanted: ReadonlySet<string>,
): Promise<ToolResult> {
  const values: Record<string, JsonValue> = {};
  for (const id of call.needs ?? []) {
    const result = await started.get(id);
    if (!result || result.isError || result.value === undefined) {
      const reason = !result || result.isError ? 'which failed' : 'which is too large to be handed on';
      return failedCall(call, new HoldfastError('dependency_failed', { got: id, reason }));
    }
    values[id] = result.value;
  }
  const resolved = resolveReferences(call.args, values);
  if ('fault' in resolved) {
    const facts = {
      got: (call.needs ?? []).join(', '),
      reason: `and there is not what it names: ${resolved.fault}`,
    };
    return failedCall(call, new HoldfastError('dependency_failed', facts));
  }
  return run({ ...call, args: resolved.args }, wanted.has(call.callId));
}

/** Without references there are only `$$` to be written as `$`. */
function unescaped(call: ToolCall): ToolCall {
  if (!call.needs) return call;
  const resolved = resolveReferences(call.args, {});
  return 'args' in resolved ? { ...call, args: resolved.args } : call;
}

export const failedCall = ({ callId, tool }: ToolCall, { code, message }: HoldfastError): ToolResult => ({
  callId,
  tool,
  content: `Error ${code}: ${message}`,
  isError: true,
});
