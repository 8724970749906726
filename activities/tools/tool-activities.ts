// The activities that run tools, both next to the agents and on hosts: for models, and for scripts.
import { Context } from '@temporalio/activity';
import type { HoldfastClient } from '../../client/holdfast-client';
import type { ToolActivities } from '../../contracts/activities';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { ToolCall, ToolResult } from '../../contracts/agents/agent';
import { failedCall } from '../../contracts/tools/failed-call';
import { toFailure } from '../../contracts/errors/failure';
import { hostNameOf } from '../../contracts/ids';
import type { JsonValue, ToolInvocation } from '../../contracts/tools/tools';
import { absoluteFolder } from '../../exec/working-folder';
import type { ToolRegistry } from '../../tools/registry';
import { afterAttempts } from '../../tools/tool-attempt';
import type { ToolContext, ToolHost } from '../../tools/tool';
import type { CancelledCalls } from '../cancelled-calls';
import { whyUnreachable } from '../blobs/blob-store';
import { wellFormed } from '../../contracts/text/well-formed';
import { fitError, fitToolResult } from '../blobs/fit-payload';
import type { ImageStore } from '../blobs/image-store';
import type { LargeValues } from '../blobs/large-values';
import { readContext } from '../agents/read-context';
import { CollectedImages } from './collected-images';
import { showingArguments, type RuledCall, type ToolRulings } from './tool-ruling';

export interface ToolDependencies {
  client: HoldfastClient;
  tools: ToolRegistry;
  blobs: LargeValues;
  images: ImageStore;
  /**
   * The machine of the shells, for a worker that serves one; `cwd` is used if neither script nor agent names a folder.
   */
  host: ToolHost | null;
  /** Checked once more before a tool runs. */
  rulings: ToolRulings;
  cancelled: CancelledCalls;
  /** For a host: like `HostOwnership.confirm`. */
  confirm?: (() => Promise<void>) | undefined;
}

export function createToolActivities(parts: ToolDependencies): ToolActivities {
  const { host, cancelled, confirm, blobs } = parts;
  return {
    callTool: (input) => cancelled.beating(input.key, (signal) => callForModel(parts, input, signal)),
    invokeTool: (input) => cancelled.beating(input.key, (signal) => invokeForScript(parts, input, signal)),
    readContext: async ({ agent, cwd, paths }) => {
      await confirm?.();
      host?.admit?.('context', 'read_only');
      const reach = host?.reachOf?.(agent);
      return reach ? readContext(absoluteFolder(cwd ?? host?.cwd ?? ''), paths, reach) : null;
    },
    readBlob: async ({ from, ...ref }) => {
      try {
        host?.admit?.('a value', 'read_only');
        return (await blobs.part(ref, from)).toString('base64');
      } catch (err) {
        throw err instanceof HoldfastError ? toFailure(err) : err;
      }
    },
  };
}

async function callForModel(
  parts: ToolDependencies,
  input: ToolInvocation,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { tools, rulings, images, confirm } = parts;
  const { call, wantsValue = false } = input;
  await Promise.all([confirm?.(), tools.settled()]);
  const refused = await rulings.refusal(ruledCall(input, call.args), call.hold);
  if (refused) return failedCall(call, afterEarlierAttempt(call, refused));
  const collected = new CollectedImages();
  const context = { ...contextOf(parts, input, signal), addImage: collected.add };
  const result = fitToolResult(await tools.call(call, context, wantsValue));
  return collected.addTo(result, { store: images, agent: input.agent, signal });
}

async function invokeForScript(
  parts: ToolDependencies,
  input: Parameters<ToolActivities['invokeTool']>[0],
  signal: AbortSignal,
): ReturnType<ToolActivities['invokeTool']> {
  const { tools, rulings, blobs, confirm } = parts;
  const { call, blob } = input;
  await Promise.all([confirm?.(), tools.settled()]);
  const ready = await readiness(parts, input, signal).finally(() => blob && blobs.releaseCopy(blob));
  if (ready instanceof HoldfastError) return afterEarlierAttempt(call, ready).toOutcome();
  const { args } = ready;
  const ruled = [ruledCall(input, args), call.hold] as const;
  const { held, refused } = input.mayHold
    ? await rulings.recheck(...ruled)
    : { refused: await rulings.refusal(...ruled) };
  if (refused) return afterEarlierAttempt(call, refused).toOutcome();
  if (held) return { held: blob ? showingArguments(held, args) : held };
  const outcome = await tools.invoke({ ...call, args }, contextOf(parts, input, signal));
  if (!outcome.ok) return fitError(outcome);
  return 'value' in outcome ? keptValue(blobs, input, outcome.value, signal) : outcome;
}

/** The tool has taken effect: what fails here is an outcome, since a retry would repeat that. */
async function keptValue(
  blobs: LargeValues,
  { agent, key, call }: ToolInvocation,
  value: JsonValue,
  signal: AbortSignal,
): ReturnType<ToolActivities['invokeTool']> {
  try {
    return await blobs.fit({ agent, id: key }, call.tool, wellFormed(value), signal);
  } catch (err) {
    if (err instanceof HoldfastError && err.code === 'result_too_large') return err.toOutcome();
    const reason = `it could not be kept: ${err instanceof HoldfastError ? String(err.facts.reason) : reasonOf(err)}`;
    return new HoldfastError('result_undelivered', { tool: call.tool, reason }).toOutcome();
  }
}

function contextOf(
  { client, host }: ToolDependencies,
  { agent, key, call, settings, caller, callsLeft, budgetLeft }: ToolInvocation,
  signal: AbortSignal,
): ToolContext {
  const { attempt } = Context.current().info;
  const named = hostNameOf(settings);
  if (host && host.name !== named)
    throw new HoldfastError('foreign_session', { got: named, host: host.name });
  const cwd = caller?.cwd ?? settings.cwd ?? host?.cwd ?? '';
  const place = host && { ...host, ...host.confinedFor?.(agent), cwd: absoluteFolder(cwd) };
  const more = { callsLeft, budgetLeft, askedAt: call.hold?.askedAt };
  return { agent, key, attempt, settings, client, signal, ...more, caller: caller ?? null, host: place };
}

/** Everything that can fail before a tool is run: the error says that it was not. */
async function readiness(
  { blobs, tools }: ToolDependencies,
  { agent, call, blob }: ToolInvocation,
  signal: AbortSignal,
): Promise<Pick<ToolCall, 'args'> | HoldfastError> {
  try {
    // A later attempt may have begun: then it is followed to its end.
    if (Context.current().info.attempt === 1) {
      await blobs.checkQuota(agent);
      if (tools.find(call.tool).effects === 'once') await blobs.checkRoom(signal);
    }
  } catch (err) {
    if (err instanceof HoldfastError) return err;
    throw err;
  }
  if (!blob) return { args: call.args };
  try {
    return { args: (await blobs.read(agent, blob, signal)) as ToolCall['args'] };
  } catch (err) {
    signal.throwIfAborted();
    const { bytes: got, at = 'another machine' } = blob;
    return new HoldfastError('arguments_unreachable', {
      tool: call.tool,
      got,
      at,
      reason: whyUnreachable(err),
    });
  }
}

/** The policy, the disk or the configuration may have changed since an attempt that was cut off. */
const afterEarlierAttempt = ({ tool }: ToolCall, refused: HoldfastError): HoldfastError =>
  afterAttempts(Context.current().info.attempt, tool, refused);

/** With the place as it was when approval was requested. */
const ruledCall = ({ agent, call, settings, caller }: ToolInvocation, args: unknown): RuledCall => ({
  agent,
  tool: call.tool,
  args,
  place: { host: hostNameOf(settings), cwd: caller?.cwd ?? settings.cwd ?? null },
});
