// `holdfast run`: one task for an agent, its steps as they happen, its answer at the end.
import { randomBytes } from 'node:crypto';
import type { AgentHandle } from '../../client/agent-handle';
import type { AgentInput, AgentResult } from '../../contracts/agent';
import { HoldfastError } from '../../contracts/errors';
import { LOCAL_HOST } from '../../contracts/ids';
import { inertLine } from '../../contracts/inert';
import { checkModel, modelInFull } from '../check-model';
import { openContext, workflowLink, type GlobalOptions } from '../context';
import { draw } from '../guarded-output';
import { inert } from '../inert-text';
import { printMessage } from '../print-message';
import { leaveOnInterrupt } from '../leave-on-interrupt';
import { printJson } from '../print-json';
import { note, styled } from '../terminal-style';

export interface RunOptions extends GlobalOptions {
  agent?: string;
  host: string;
  model: string;
  remoteHost?: string;
  cwd?: string;
  keep?: boolean;
  maxSteps?: number;
}

export async function run(task: string, options: RunOptions): Promise<number> {
  const input = inputOf(task, options);
  // A fault that can be seen from here costs no server, no worker and no history.
  await checkModel(options, input.model);
  await using context = await openContext(options, { start: true, staysOnFullDisk: true });
  const id = options.agent ?? `run-${randomBytes(4).toString('hex')}`;
  const agent = context.client.agent(id);
  await agent.start(input);
  const link = workflowLink(context, agent.workflowId);
  if (!options.json) note(`agent ${id}${link ? `  ${link}` : ''}`);
  leaveOnInterrupt(link);
  const result = await watch(agent, options.json ?? false);
  if (options.json) printJson({ agent: id, ...result });
  else draw(`${summary(result)}\n`);
  return result.reason === 'answered' ? 0 : 75;
}

function inputOf(task: string, { model, host, remoteHost, cwd, keep, maxSteps }: RunOptions): AgentInput {
  const workdir = cwd ?? (host === LOCAL_HOST ? process.cwd() : undefined);
  return {
    task,
    model: modelInFull(model),
    host,
    ...(workdir && { cwd: workdir }),
    ...(remoteHost && { remoteHost }),
    ...(keep && { keep }),
    ...(maxSteps !== undefined && { limits: { steps: maxSteps } }),
  };
}

async function watch(agent: AgentHandle, quiet: boolean): Promise<AgentResult> {
  const done = new AbortController();
  const following = quiet ? Promise.resolve() : printSteps(agent, done.signal);
  // Told below: unheard until then, a rejection would end the process with a stack.
  following.catch(() => undefined);
  try {
    const result = await agent.result();
    await following;
    return result;
  } catch (err) {
    // The steps up to the failure are worth seeing; then the failure itself.
    if (err instanceof HoldfastError) await following.catch(() => undefined);
    done.abort();
    throw err;
  }
}

async function printSteps(agent: AgentHandle, signal: AbortSignal): Promise<void> {
  for await (const { message } of agent.follow(signal)) printMessage(message);
}

function summary({ answer, reason, steps }: AgentResult): string {
  const end = styled('dim', inertLine(`[${reason.replace('_', ' ')} after ${steps} steps]`));
  return answer === null ? end : `\n${inert(answer)}\n${end}`;
}
