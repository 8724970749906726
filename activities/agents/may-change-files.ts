// Whether the calls of a reply may change files of the agent's workspace: then the step ends with a checkpoint.
import type { ParsedReply, ToolCall } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { ToolRegistry } from '../../tools/registry';

export const mayChangeFiles = (reply: ParsedReply, tools: ToolRegistry): boolean =>
  reply.kind === 'calls' && reply.calls.some((call) => mayChange(call, tools));

function mayChange({ tool: name, denied }: ToolCall, tools: ToolRegistry): boolean {
  if (denied !== undefined) return false;
  try {
    const tool = tools.find(name);
    return tool.effects !== 'read_only' || tool.session !== undefined || tool.awaits === true;
  } catch (err) {
    // A tool that does not exist changes nothing.
    if (err instanceof HoldfastError) return false;
    throw err;
  }
}
