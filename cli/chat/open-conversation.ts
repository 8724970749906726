// Chooses the conversation of a chat: a running one, an ended one, or a new one.
import { randomBytes } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { AgentEntry } from '../../client/agents/agent-directory';
import type { AgentHandle } from '../../client/agents/agent-handle';
import type { AgentInput, AgentSettings } from '../../contracts/schemas/agent';
import type { DialectName } from '../../contracts/models/dialect-names';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { folderOn } from '../arguments';
import { checkModel, modelInFull, noModel } from '../check-model';
import type { GlobalOptions } from '../global-options';
import type { CliContext } from '../open-context';
import { sameServer } from '../print/next-step';

export interface ChatOptions extends GlobalOptions {
  agent?: string;
  model?: string;
  dialect?: DialectName;
  cwd?: string;
  host: string;
  remoteHost?: string;
  tenant?: string;
  /** True: under this machine's own name. */
  serveHost?: string | true;
  tools?: string[];
  resume?: boolean;
}

export interface OpenedConversation {
  agent: AgentHandle;
  how: 'started' | 'joined' | 'resumed';
}

/** Context files of a new conversation, if the folder has them. */
const CONTEXT = ['AGENTS.md', 'skills'];

/** Checks without a server: a fault costs no start and no history. Throws `invalid_input`, `model_*`. */
export async function checkOptions(options: ChatOptions): Promise<void> {
  if (options.model !== undefined) await checkModel(options, modelInFull(options.model));
  else if (options.agent === undefined && !options.resume) throw noModelHere();
}

/**
 * Answers once a worker serves the conversation: a message that is sent earlier may be answered after its sender has
 * left, and again when they repeat it. Throws `no_worker` and `worker_silent`, and then leaves no new conversation
 * behind; `not_found` if --resume finds nothing, `invalid_input` for a new conversation without a model, and for another
 * remote host than that of a conversation that runs.
 */
export async function openConversation(
  context: CliContext,
  options: ChatOptions,
): Promise<OpenedConversation> {
  const opened = await findOrStart(context, options);
  try {
    const { settings } = await opened.agent.ownState();
    if (opened.how === 'joined') refuseOtherHost(opened.agent, settings, options);
    return opened;
  } catch (err) {
    // Terminated, because a stop would need a worker, too. It has done nothing yet.
    if (opened.how === 'started') await terminate(context, opened.agent).catch(() => undefined);
    throw err;
  }
}

/** One that is bound to none uses the only one online. */
function refuseOtherHost(
  { id }: AgentHandle,
  { remoteHost: bound }: AgentSettings,
  { remoteHost, ...given }: ChatOptions,
): void {
  if (remoteHost === undefined || bound === undefined || remoteHost === bound) return;
  throw new HoldfastError('invalid_input', {
    what: 'The remote host of the conversation',
    got: remoteHost,
    allowed: `${bound}, to which ${id} is bound for as long as it runs`,
    next:
      'Leave out --remote-host and --serve-host, or end the conversation ' +
      `(\`holdfast stop ${id}${sameServer(given)}\`) and continue it there with --resume.`,
  });
}

const terminate = ({ client }: CliContext, { workflowId }: AgentHandle): Promise<unknown> =>
  client.temporal.workflow.getHandle(workflowId).terminate('its chat could not begin');

async function findOrStart(context: CliContext, options: ChatOptions): Promise<OpenedConversation> {
  const id = options.agent ?? (options.resume ? await lastConversation(context) : undefined);
  const agent = context.client.agent(id ?? `chat-${randomBytes(4).toString('hex')}`);
  const status = id === undefined ? null : await statusOf(context, agent);
  if (status === 'RUNNING') return { agent, how: 'joined' };
  if (options.resume) {
    if (status === null) throw nothingToResume(agent.id);
    return resume(agent, options);
  }
  return start(agent, inputOf(options), 'started');
}

async function start(
  agent: AgentHandle,
  input: AgentInput,
  how: OpenedConversation['how'],
): Promise<OpenedConversation> {
  try {
    await agent.start(input);
    return { agent, how };
  } catch (err) {
    // Someone else has just started it.
    if (err instanceof HoldfastError && err.code === 'id_conflict') return { agent, how: 'joined' };
    throw err;
  }
}

/** Continues with the messages of one that has ended, in new shells. */
async function resume(agent: AgentHandle, { model, remoteHost }: ChatOptions): Promise<OpenedConversation> {
  const { settings, runId, messages } = await agent.ownState();
  const own = {
    ...(model !== undefined && { model: modelInFull(model) }),
    ...(remoteHost && { remoteHost }),
  };
  const from = { agent: agent.id, runId, count: messages };
  return start(agent, { ...settings, ...own, mode: 'conversation', from }, 'resumed');
}

function inputOf({ model, dialect, host, remoteHost, tenant, cwd, tools }: ChatOptions): AgentInput {
  if (model === undefined) throw noModelHere();
  const workdir = folderOn(host, cwd);
  return {
    mode: 'conversation',
    model: modelInFull(model),
    host,
    context: CONTEXT,
    ...(workdir && { cwd: workdir }),
    ...(dialect && { dialect }),
    ...(remoteHost && { remoteHost }),
    ...(tenant && { tenant }),
    ...(tools && { tools }),
  };
}

/** Null if there is none with this id. */
async function statusOf({ client }: CliContext, agent: AgentHandle): Promise<string | null> {
  try {
    return (await client.temporal.workflow.getHandle(agent.workflowId).describe()).status.name;
  } catch (err) {
    if (err instanceof WorkflowNotFoundError) return null;
    throw err;
  }
}

async function lastConversation({ client }: CliContext): Promise<string> {
  const running: AgentEntry[] = [];
  for await (const entry of client.agents.list()) running.push(entry);
  for (const { id } of running.sort((a, b) => b.startedAt.localeCompare(a.startedAt))) {
    if ((await client.agent(id).ownState()).mode === 'conversation') return id;
  }
  throw nothingToResume('none that is running');
}

const noModelHere = (): HoldfastError =>
  noModel(', or a conversation that runs with `--agent ID` or `--resume`');

const nothingToResume = (got: string): HoldfastError =>
  new HoldfastError('not_found', {
    what: 'A conversation to resume',
    got,
    next: 'Look at `holdfast tree --all`, or start one with --model.',
  });
