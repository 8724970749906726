// `holdfast chat`: a conversation, in a terminal or through a pipe.
import { openContext, workflowLink } from '../context';
import type { GlobalOptions } from '../global-options';
import type { CliContext } from '../open-context';
import {
  checkOptions,
  openConversation,
  type ChatOptions,
  type OpenedConversation,
} from '../chat/open-conversation';
import { pipedChat } from '../chat/piped-chat';
import { TerminalChat } from '../chat/terminal-chat';
import { sameServer } from '../print/next-step';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { checkedId } from '../../contracts/ids';
import { hostWorkers } from '../hosts/host-workers';
import { ownHostName } from '../own-host-name';
import { leaveOnInterrupt } from '../waiting/leave-on-interrupt';
import { closedOutput } from '../terminal/closed-output';
import { note, noteUnless } from '../terminal/terminal-style';
import { DIALECTS } from '../../contracts/models/dialect-names';
import { LOCAL_HOST } from '../../contracts/ids';
import { agentId, collectNames, dialect, hostName, named, tenant, TENANT } from '../arguments';
import { action, examples, type Define } from '../define-command';

export const define: Define = (command) =>
  command
    .option('--agent <id>', 'the conversation: joined if it runs, else started', agentId)
    .option('--model <provider:name>', 'for a new conversation, for example openai:gpt-5')
    .option('--dialect <name>', `how the model calls tools: ${DIALECTS.join(', ')}`, dialect)
    .option('--cwd <dir>', 'where its shells start', named)
    .option('--host <name>', 'host of its shells', hostName, LOCAL_HOST)
    .option('--serve-host [name]', 'be the host of code_execution_remote while this chat is open')
    .option('--remote-host <name>', 'host of code_execution_remote', hostName)
    .option('--tenant <id>', TENANT, tenant)
    .option(
      '--tools <names>',
      'the tools that it may call, separated by commas; may be repeated',
      collectNames,
    )
    .option('--resume', 'the latest running conversation; with --agent, also one that has ended')
    .addHelpText(
      'after',
      examples(
        'holdfast chat --model openai:gpt-5                  a new conversation in this folder',
        'holdfast chat --agent review                        join the running conversation with this id',
        'holdfast chat --resume                              the latest one running',
        'git diff | holdfast send review -                   a message from a pipe',
        'printf "%s\\n" one two | holdfast chat --model M     each line is a message, answers go to stdout',
      ),
    )
    .action(action(chat));

/** In a terminal 0 after leaving, 130 after Ctrl-C; through a pipe the code of the last turn that failed. */
async function chat(given: ChatOptions): Promise<number> {
  await checkOptions(given);
  await using context = await openContext(given, { start: true, staysOnFullDisk: true });
  const host = await servedHost(given);
  try {
    const options = host ? { ...given, remoteHost: host.name } : given;
    const opened = await openConversation(context, options);
    if (!isTerminal(options)) return await throughPipe(opened, options);
    await introduce(context, opened);
    const talk = new TerminalChat(context, options, opened.agent);
    const code = await talk.run();
    farewell(talk, options);
    return code;
  } finally {
    await host?.end();
  }
}

/** Makes this machine the host of `code_execution_remote` while the chat lasts; its shells start in this folder. */
async function servedHost(
  options: ChatOptions,
): Promise<{ name: string; end: () => Promise<void> } | undefined> {
  if (options.serveHost === undefined) return undefined;
  const name = options.serveHost === true ? ownHostName() : checkedId('host', options.serveHost);
  const { workers, root, access } = await hostWorkers(name, options, SILENT);
  const serving = new Promise<void>((resolve, reject) => {
    workers.run({ onReady: () => resolve() }).catch(reject);
  });
  await serving;
  note(`this machine is host ${name}, access ${access}; shells start in ${root}`);
  return { name, end: () => workers.close() };
}

/** The screen belongs to the conversation. */
const SILENT = { info: (): void => undefined, warn: (): void => undefined };

const isTerminal = ({ json }: GlobalOptions): boolean =>
  Boolean(process.stdin.isTTY && process.stdout.isTTY) && !json && process.env.TERM !== 'dumb';

/** A conversation without a given name ends with its input, or its reader: there is no name to come back to it by. */
async function throughPipe({ agent, how }: OpenedConversation, options: ChatOptions): Promise<number> {
  leaveOnInterrupt(null, options);
  if (process.stdin.isTTY)
    note('This terminal shows plain lines only: each is a message, also one with a slash. Ctrl-D leaves.');
  if (how !== 'started' || options.agent !== undefined) return pipedChat(agent, options);
  // Where it cannot be ended: its name was never printed.
  const reportLeft = (): void => {
    const stop = `holdfast stop ${agent.id}${sameServer(options)}`;
    noteUnless(options.json)(`Conversation ${agent.id} keeps running: end it with \`${stop}\`.`);
  };
  process.once('exit', reportLeft);
  const end = async (): Promise<void> => {
    await agent.stop('its input or its output has ended').catch((err: unknown) => {
      // Somebody else has ended it.
      if (!(err instanceof HoldfastError && err.code === 'not_found')) throw err;
    });
    process.off('exit', reportLeft);
  };
  const talk = Promise.race([pipedChat(agent, options), closedOutput()]);
  const code = await talk.catch(async (err: unknown) => {
    // A server that is away hears of no end either.
    const isAway = err instanceof HoldfastError && err.code === 'no_server';
    if (!isAway) await end().catch(() => undefined);
    throw err;
  });
  await end();
  return code;
}

async function introduce(context: CliContext, { agent, how }: OpenedConversation): Promise<void> {
  const link = workflowLink(context, agent.workflowId);
  const { model, host } = await agent.ownState();
  note(`${how} ${agent.id}, with ${model} on host ${host}${link ? `  ${link}` : ''}`);
  note('/help lists the commands; ctrl-c interrupts, ctrl-d leaves');
}

function farewell({ agent, state, isOver }: TerminalChat, options: ChatOptions): void {
  if (isOver || state?.status === 'ended' || state?.status === 'stopping') return;
  const where = sameServer(options);
  note(`The conversation continues. Come back: \`holdfast chat --agent ${agent.id}${where}\``);
  note(`End it: \`holdfast stop ${agent.id}${where}\``);
}
