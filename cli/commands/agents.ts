// `holdfast send`, `stop`, `recover` and `fork`: messages to a running agent.
import { text as textOf } from 'node:stream/consumers';
import type { AgentHandle } from '../../client/agents/agent-handle';
import type { AgentResult } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { checkModel, modelInFull } from '../check-model';
import { openContext, type GlobalOptions } from '../context';
import { leaveOnInterrupt } from '../waiting/leave-on-interrupt';
import { sameServer } from '../print/next-step';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';
import { printResult, resultCode } from '../print/turn-result';

export interface SendOptions extends GlobalOptions {
  interrupt?: boolean;
  /** False for `--no-wait`. */
  wait: boolean;
}
export interface ReasonOptions extends GlobalOptions {
  reason?: string;
}
export interface ForkOptions extends GlobalOptions {
  at?: number;
  model?: string;
  files?: boolean;
}

/** Exits with 0 for an answer, else as the turn ended. */
export async function send(agent: string, message: string, options: SendOptions): Promise<number> {
  const text = message === '-' ? await textOf(process.stdin) : message;
  const mode = options.interrupt ? 'interrupt' : 'queue';
  await using context = await openContext(options, { start: false, restarts: true });
  const handle = context.client.agent(agent);
  if (options.wait) return await answer(handle, text, mode, options);
  await handle.post(text, { mode });
  if (options.json) printJson({ agent, sent: true });
  else note(`Sent. \`holdfast chat --agent ${agent}${sameServer(options)}\` shows the reply.`);
  return 0;
}

async function answer(
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

const WITHOUT_WORKER: readonly string[] = ['no_worker', 'worker_silent'];

/** Ends the agent, and waits until its sessions are closed. */
export async function stop(agent: string, options: ReasonOptions): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const handle = context.client.agent(agent);
  await handle.stop(options.reason ?? 'holdfast stop');
  await handle.result({ needsWorker: true }).catch(async (err: unknown) => {
    if (!(err instanceof HoldfastError)) throw err;
    // A stopped task may end without an answer, or with an error. What else is wrong, such as a stuck turn, keeps it.
    if ((await handle.run()).isOver) return;
    if (WITHOUT_WORKER.includes(err.code) && !options.json)
      note(`The stop is recorded: agent ${agent} ends as soon as a worker runs.`);
    throw err;
  });
  if (options.json) printJson({ agent, stopped: true });
  else note(`Agent ${agent} has ended, and its sessions with it.`);
  return 0;
}

export async function recover(agent: string, options: ReasonOptions): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const handle = context.client.agent(agent);
  const state = await handle.recover(options.reason ?? 'holdfast recover');
  if (options.json) printJson(state);
  else note(`Agent ${agent} continues with the next message; everything running in its sessions has ended.`);
  return 0;
}

/** Starts another conversation with the beginning of this one; with a message it answers that at once. */
export async function fork(
  agent: string,
  id: string,
  message: string | undefined,
  { at, model, files, ...options }: ForkOptions,
): Promise<number> {
  const own = model === undefined ? {} : { model: modelInFull(model) };
  if (own.model !== undefined) await checkModel(options, own.model);
  await using context = await openContext(options, { start: false, restarts: true });
  const handle = context.client.agent(agent);
  const forked = await handle.fork(id, { ...own, ...(at !== undefined && { at }), ...(files && { files }) });
  const continued = `holdfast chat --agent ${id}${sameServer(options)}`;
  if (!options.json) note(`Agent ${id} is started: \`${continued}\` continues there.`);
  if (message !== undefined) return await answer(forked, message, 'queue', options);
  if (options.json) printJson({ agent: id, from: agent });
  return 0;
}
