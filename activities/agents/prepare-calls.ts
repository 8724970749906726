// What a reply's calls get before they are recorded, because workflows know neither the registry nor the policy: where
// they run, whether they may, what their tools declare about them, and repaired code.
import type { ParsedReply, ToolCall } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { isSessionNumber } from '../../contracts/ids';
import type { CallFacts } from '../../contracts/tools/call-facts';
import { withoutEscapes } from '../../contracts/agents/references';
import { withMendedCode } from '../../models/dialects/escaped-code';
import type { ToolRegistry } from '../../tools/registry';
import type { Tool } from '../../tools/tool';
import type { ToolRulings } from '../tools/tool-ruling';

/** The calls of a reply run in parallel: the server allows 2,000 activities, and a history 50 MB. */
const MAX_CALLS = 100;

export interface Preparation {
  tools: ToolRegistry;
  /** Names of the tools that the agent may call; absent: all. */
  allowed: readonly string[] | undefined;
  /** The calls' keys begin with it. */
  key: string;
  ruled: (call: ToolCall) => ReturnType<ToolRulings['of']>;
}

export async function prepareCalls(reply: ParsedReply, preparation: Preparation): Promise<ParsedReply> {
  if (reply.kind !== 'calls') return reply;
  const { length } = reply.calls;
  if (length > MAX_CALLS)
    return { kind: 'malformed', problem: `It holds ${length} calls, allowed ${MAX_CALLS} in one reply.` };
  return { ...reply, calls: await Promise.all(reply.calls.map((call) => prepared(call, preparation))) };
}

async function prepared(written: ToolCall, { tools, allowed, key, ruled }: Preparation): Promise<ToolCall> {
  const tool = await unlessRefused(() => tools.find(written.tool));
  const call = tool ? withMendedCode(written, tool) : written;
  // The workflow removes the escapes: what is looked at here, and approved, is what runs.
  const running = withoutEscapes(call);
  const mayRun = allowed?.includes(call.tool) ?? true;
  const isForTurn =
    mayRun &&
    tool?.inTurn === true &&
    (await unlessRefused(() => tools.check(tool, running.args))) !== undefined;
  return {
    ...call,
    ...(await ruled(running)),
    ...(tool?.runsOn === 'host' ? { runsOn: 'host' } : isForTurn && { runsOn: 'turn' }),
    facts: tool ? await factsOf(tools, tool, running, `${key}/${call.callId}`) : {},
  };
}

/** Undefined for what the tool's activity reports: a name that the model made up, or invalid arguments. */
async function unlessRefused<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (err) {
    if (err instanceof HoldfastError) return undefined;
    throw err;
  }
}

async function factsOf(tools: ToolRegistry, tool: Tool, { args }: ToolCall, key: string): Promise<CallFacts> {
  const { argumentRoles: roles } = tool;
  return { ...(await sessionFactsOf(tools, tool, args, key)), ...(roles && { roles }) };
}

async function sessionFactsOf(
  tools: ToolRegistry,
  tool: Tool,
  args: ToolCall['args'],
  key: string,
): Promise<Pick<CallFacts, 'session' | 'forPerson'>> {
  if (!tool.session) return {};
  try {
    const checked = await tools.check(tool, args);
    const session = tool.session(checked, key);
    if (!isSessionNumber(session)) return {};
    return { session, ...(tool.forPerson?.(checked) === true && { forPerson: true }) };
  } catch {
    // Invalid arguments, or a custom tool's function that throws: the call itself is unaffected.
    return {};
  }
}
