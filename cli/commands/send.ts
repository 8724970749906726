// `holdfast send`: a message to an agent, and its answer.
import { text as textOf } from 'node:stream/consumers';
import type { AgentHandle } from '../../client/agents/agent-handle';
import { wordsOf } from '../../client/agents/failed-agents';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { AgentResult } from '../../contracts/agents/agent';
import { agentId } from '../arguments';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import { action, examples, type Define } from '../define-command';
import { sameServer } from '../print/next-step';
import { printJson } from '../print/print-json';
import { printResult, resultCode } from '../print/turn-result';
import { note } from '../terminal/terminal-style';
import { leaveOnInterrupt } from '../waiting/leave-on-interrupt';

interface SendOptions extends GlobalOptions {
  interrupt?: boolean;
  /** False for `--no-wait`. */
  wait: boolean;
}

export const define: Define = (command) =>
  command
    .option('--interrupt', 'interrupt the current turn')
    .option('--no-wait', 'send without waiting for the answer')
    .addHelpText(
      'after',
      examples(
        'holdfast send review "and the tests?"',
        'git diff | holdfast send review -',
        'holdfast send review --interrupt "no, only the parser"',
        'holdfast send review --no-wait "when you have time: the docs"',
      ),
    )
    .action(action((id: string, text: string, options: SendOptions) => send(agentId(id), text, options)));

/** Exits with 0 for an answer, else as the turn ended. */
async function send(agent: string, message: string, options: SendOptions): Promise<number> {
  const text = message === '-' ? await textOf(process.stdin) : message;
  const mode = options.interrupt ? 'interrupt' : 'queue';
  await using context = await openContext(options, { start: false, restarts: true });
  const handle = context.client.agent(agent);
  if (options.wait)
    return await answer(handle, text, mode, options).catch((err: unknown) => throwWithReason(err, handle));
  await handle.post(text, { mode }).catch((err: unknown) => throwWithReason(err, handle));
  if (options.json) printJson({ agent, sent: true });
  else note(`Sent. \`holdfast chat --agent ${agent}${sameServer(options)}\` shows the reply.`);
  return 0;
}

/** An agent that has failed takes no message: the error says why it failed. */
async function throwWithReason(err: unknown, handle: AgentHandle): Promise<never> {
  const known = err instanceof HoldfastError ? err : undefined;
  const isOver =
    known?.code === 'agent_closed' || (known?.code === 'not_found' && known.facts.ended === true);
  if (!known || !isOver) throw err;
  const state = await handle.presentState().catch(() => undefined);
  const failure = state?.lastResult && wordsOf(state.lastResult, { isOpen: false });
  if (!failure) throw err;
  throw known.withFacts({
    next:
      `It failed with ${failure.code}: ${failure.message} To go on from its conversation, run ` +
      `\`holdfast fork ${handle.id} NEW-ID "MESSAGE"\`.`,
  });
}

/** Sends it and waits for the answer. */
export async function answer(
  handle: AgentHandle,
  text: string,
  mode: 'queue' | 'interrupt',
  options: GlobalOptions,
): Promise<number> {
  leaveOnInterrupt(null, options);
  const result: AgentResult = await handle.send(text, { mode });
  if (options.json) printJson({ agent: handle.id, ...result });
  else printResult(result, { ...options, agent: handle.id });
  return resultCode(result);
}
