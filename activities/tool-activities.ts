// The activities that run tools, beside the agents and on hosts alike: for the model, and for scripts.
import { Context } from '@temporalio/activity';
import type { HoldfastClient } from '../client/holdfast-client';
import type { ToolActivities } from '../contracts/activities';
import type { Place } from '../contracts/approvals';
import { HoldfastError, reasonOf } from '../contracts/errors';
import { failedCall } from '../contracts/failed-call';
import { LOCAL_HOST } from '../contracts/ids';
import type { ToolInvocation } from '../contracts/tools';
import type { ToolRegistry } from '../tools/registry';
import type { ToolContext, ToolHost } from '../tools/tool';
import { beating } from './beating';
import type { BlobStore } from './blob-store';
import { fitToolResult } from './fit-payload';
import { readContext } from './read-context';
import type { ToolRulings } from './tool-ruling';

export interface ToolDependencies {
  client: HoldfastClient;
  tools: ToolRegistry;
  blobs: BlobStore;
  /** The machine of the shells, for a worker that serves one; `cwd` where neither script nor agent names a folder. */
  host: ToolHost | null;
  /** Looks once more before a tool is run. */
  rulings: ToolRulings;
}

export function createToolActivities({
  client,
  tools,
  blobs,
  host,
  rulings,
}: ToolDependencies): ToolActivities {
  const contextOf = (
    { agent, key, settings, caller, callsLeft, budgetLeft }: ToolInvocation,
    signal: AbortSignal,
  ): ToolContext => {
    const { attempt } = Context.current().info;
    const named = settings.host ?? LOCAL_HOST;
    if (host && host.name !== named)
      throw new HoldfastError('foreign_session', { got: named, host: host.name });
    const cwd = caller?.cwd ?? settings.cwd ?? host?.cwd ?? '';
    const place = host && { ...host, cwd };
    const left = { callsLeft, budgetLeft };
    return { agent, key, attempt, settings, client, signal, ...left, caller: caller ?? null, host: place };
  };
  return {
    callTool: (input) =>
      beating(async (signal) => {
        const { call, wantsValue = false } = input;
        const refused = await rulings.refusal(call.tool, call.args, placeOf(input), call.hold);
        if (refused) return failedCall(call, refused);
        return fitToolResult(await tools.call(call, contextOf(input, signal), wantsValue));
      }),
    readContext: async ({ cwd, paths }) => {
      host?.admit?.('context', 'read_only');
      return readContext(cwd ?? host?.cwd ?? '', paths, host?.confine && host.cwd);
    },
    invokeTool: (input) =>
      beating(async (signal) => {
        const { call, blob } = input;
        const args = blob ? ((await blobs.read(blob)) as typeof call.args) : call.args;
        const refused = await rulings.refusal(call.tool, args, placeOf(input), call.hold);
        if (refused) return refused.toOutcome();
        const outcome = await tools.invoke({ ...call, args }, contextOf(input, signal));
        if (!('value' in outcome)) return outcome;
        try {
          return await blobs.fit(call.tool, outcome.value);
        } catch (err) {
          // It has had its effect, which a second attempt must not repeat.
          if (tools.find(call.tool).effects !== 'once') throw err;
          const reason = `it was done, and its result could not be kept: ${reasonOf(err)}`;
          return new HoldfastError('unknown_outcome', {
            what: `the result of ${call.tool}`,
            reason,
          }).toOutcome();
        }
      }),
  };
}

/** As it was when somebody was asked. */
const placeOf = ({ settings, caller }: ToolInvocation): Place => ({
  host: settings.host ?? LOCAL_HOST,
  cwd: caller?.cwd ?? settings.cwd ?? null,
});
