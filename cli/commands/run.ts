// `holdfast run`: one task for an agent, its steps as they happen, its answer at the end.
import { randomBytes } from 'node:crypto';
import type { AgentHandle } from '../../client/agents/agent-handle';
import type { AgentInput } from '../../contracts/schemas/agent';
import type { DialectName } from '../../contracts/models/dialect-names';
import type { AgentResult } from '../../contracts/agents/agent';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { inertLine } from '../../contracts/text/inert';
import { folderOn } from '../arguments';
import { checkModel, modelInFull, noModel } from '../check-model';
import { openContext, workflowLink } from '../context';
import type { GlobalOptions } from '../global-options';
import type { CliContext } from '../open-context';
import { draw } from '../terminal/guarded-output';
import { inert } from '../terminal/inert-text';
import { printMessage } from '../print/print-message';
import { leaveOnInterrupt } from '../waiting/leave-on-interrupt';
import { printJson } from '../print/print-json';
import { reportWaits } from '../print/report-waits';
import { note, styled } from '../terminal/terminal-style';
import { counted } from '../../contracts/text/counted';
import { DIALECTS } from '../../contracts/models/dialect-names';
import { LOCAL_HOST } from '../../contracts/ids';
import { agentId, dialect, hostName, named, tenant, TENANT, wholeNumber } from '../arguments';
import { action, examples, type Define } from '../define-command';

interface RunOptions extends GlobalOptions {
  agent?: string;
  host: string;
  model?: string;
  dialect?: DialectName;
  remoteHost?: string;
  tenant?: string;
  cwd?: string;
  keep?: boolean;
  maxSteps?: number;
}

export const define: Define = (command) =>
  command
    .option('--model <provider:name>', 'for example anthropic:NAME, openai:NAME or scripted:replies.yaml')
    .option('--dialect <name>', `how the model calls tools: ${DIALECTS.join(', ')}`, dialect)
    .option('--agent <id>', 'id of the new agent', agentId)
    .option('--host <name>', 'host of its shells', hostName, LOCAL_HOST)
    .option('--remote-host <name>', 'host of code_execution_remote', hostName)
    .option('--tenant <id>', TENANT, tenant)
    .option('--cwd <dir>', 'where its shells start', named)
    .option('--keep', 'leave its sessions open')
    .option('--max-steps <n>', 'maximum number of model calls', wholeNumber)
    .addHelpText(
      'after',
      examples(
        "holdfast run 'Count the lines of this folder' --model anthropic:claude-sonnet-4-5",
        "holdfast run 'Fix the tests' --model openai:gpt-5 --agent fixer --keep",
      ),
    )
    .action(action(run));

async function run(task: string, options: RunOptions): Promise<number> {
  const input = inputOf(task, options);
  // A fault found here costs no server, no worker and no history.
  await checkModel(options, input.model);
  await using context = await openContext(options, { start: true, staysOnFullDisk: true });
  const id = options.agent ?? `run-${randomBytes(4).toString('hex')}`;
  const agent = context.client.agent(id);
  await agent.start(input);
  const link = workflowLink(context, agent.workflowId);
  if (!options.json) note(`agent ${id}${link ? `  ${link}` : ''}`);
  leaveOnInterrupt(link, options);
  const result = await watch(context, agent, options);
  if (options.json) printJson({ agent: id, ...result });
  else draw(`${summary(result)}\n`);
  return result.reason === 'answered' ? 0 : 75;
}

/** Throws `invalid_input` without a model. */
function inputOf(task: string, options: RunOptions): AgentInput & { model: string } {
  const { model, dialect, host, remoteHost, tenant, cwd, keep, maxSteps } = options;
  if (model === undefined) throw noModel();
  const workdir = folderOn(host, cwd);
  return {
    task,
    model: modelInFull(model),
    host,
    ...(dialect && { dialect }),
    ...(workdir && { cwd: workdir }),
    ...(remoteHost && { remoteHost }),
    ...(tenant && { tenant }),
    ...(keep && { keep }),
    ...(maxSteps !== undefined && { limits: { steps: maxSteps } }),
  };
}

async function watch(context: CliContext, agent: AgentHandle, options: GlobalOptions): Promise<AgentResult> {
  const done = new AbortController();
  const quiet = options.json ?? false;
  const following = quiet ? Promise.resolve() : printSteps(agent, done.signal);
  // Reported below: an unhandled rejection would end the process with a stack trace.
  following.catch(() => undefined);
  if (!quiet) void reportWaits(context, agent.id, options, done.signal);
  try {
    const result = await agent.result();
    await following;
    return result;
  } catch (err) {
    // Show the steps up to the failure, then the failure itself.
    if (err instanceof HoldfastError) await following.catch(() => undefined);
    throw err;
  } finally {
    done.abort();
  }
}

async function printSteps(agent: AgentHandle, signal: AbortSignal): Promise<void> {
  for await (const { message } of agent.follow(signal)) printMessage(message);
}

function summary({ answer, reason, steps }: AgentResult): string {
  const end = styled('dim', inertLine(`[${reason.replaceAll('_', ' ')} after ${counted(steps, 'step')}]`));
  return answer === null ? end : `\n${inert(answer)}\n${end}`;
}
