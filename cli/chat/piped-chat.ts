// A conversation without a terminal: each line of stdin is a message, and only its answer goes to stdout.
import type { AgentHandle } from '../../client/agents/agent-handle';
import { linesOf } from '../../system/processes/lines-of';
import type { GivenOptions } from '../print/next-step';
import { printJson } from '../print/print-json';
import { printResult, resultCode } from '../print/turn-result';

/** The exit code of the last turn that failed, 0 if none did. */
export async function pipedChat(
  agent: AgentHandle,
  options: GivenOptions & { json?: boolean },
): Promise<number> {
  let code = 0;
  for await (const line of linesOf(process.stdin)) {
    if (line.trim() === '') continue;
    const result = await agent.send(line.replace(/\r$/, ''));
    if (options.json) printJson({ agent: agent.id, ...result });
    else printResult(result, { ...options, agent: agent.id });
    code = resultCode(result) || code;
  }
  return code;
}
