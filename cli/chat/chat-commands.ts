// The commands of a chat: lines that begin with "/".
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentHandle } from '../../client/agents/agent-handle';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { checkedId, checkedSession } from '../../contracts/ids';
import { countsText } from '../../contracts/workspaces/change-texts';
import { REWOUND_PARTS, type RewoundPart } from '../../contracts/workspaces/rewinds';
import { attach } from '../commands/attach';
import type { CliContext } from '../open-context';
import { note, styled } from '../terminal/terminal-style';
import { sameServer, sameSession } from '../print/next-step';
import { allWork } from '../print/work';
import { family, forest } from '../print/work-lines';
import { changeLines, diffLines, rewindRemarks, stepLine } from '../print/workspace-lines';
import type { ChatOptions } from './open-conversation';
import { waitingSessions, type ChatStatus, type RunningSession } from './status-lines';

/** The longest that a shell takes to start on a busy machine. */
const OPENING_MS = 20_000;
const LOOK_EVERY_MS = 50;

/** The chat's interface for its commands. */
export interface CommandedChat {
  readonly context: CliContext;
  readonly options: ChatOptions;
  readonly agent: AgentHandle;
  readonly status: ChatStatus;
  send(text: string, mode: 'queue' | 'interrupt'): Promise<void>;
  /** Ends the current turn. */
  interrupt(): void;
  print(text: string): void;
  /** Switches to another conversation. */
  switchTo(agent: AgentHandle): void;
  /** Lends the terminal meanwhile. */
  handOver(work: () => Promise<void>): Promise<void>;
  leave(code: number): void;
}

interface ChatCommand {
  name: string;
  /** What may follow it. */
  takes: string;
  does: string;
  run(chat: CommandedChat, rest: string): Promise<void> | void;
}

export const COMMANDS: readonly ChatCommand[] = [
  {
    name: '/interrupt',
    takes: '[TEXT]',
    does: 'end the current turn; a text given here is the next message',
    run: (chat, rest) => (rest === '' ? chat.interrupt() : chat.send(rest, 'interrupt')),
  },
  {
    name: '/attach',
    takes: '[N] [HOST]',
    does: 'the terminal of a session, on the agent’s host or another; ctrl-] comes back',
    run: attachTo,
  },
  {
    name: '/tree',
    takes: '',
    does: 'turns, sessions and sub-agents, and what each waits for',
    run: async (chat) => {
      const all = family(await allWork(chat.context), chat.agent.id);
      chat.print(forest(all, chat.agent.id).trimEnd());
    },
  },
  {
    name: '/log',
    takes: '',
    does: 'its steps, and what each did to files',
    run: async (chat) => {
      const steps = await chat.agent.workspace.steps();
      if (steps.length === 0) note('It has no steps yet.');
      else chat.print(steps.map(stepLine).join('\n'));
    },
  },
  {
    name: '/diff',
    takes: '[N]',
    does: 'what it changed in files; of step N alone',
    run: diff,
  },
  {
    name: '/rewind',
    takes: 'N [files|conversation]',
    does: 'files and conversation as they were after step N; --force, --stop as in `holdfast rewind`',
    run: rewind,
  },
  {
    name: '/fork',
    takes: '[N]',
    does: 'continue in another conversation that begins with the first N messages',
    run: fork,
  },
  {
    name: '/recover',
    takes: '[REASON]',
    does: 'end the turn and everything running in the sessions; the conversation continues',
    run: async (chat, rest) => {
      await chat.agent.recover(rest || 'recovered in a chat');
      note(
        'Recovered: everything running in the sessions has ended; the next message continues the conversation.',
      );
    },
  },
  {
    name: '/stop',
    takes: '[REASON]',
    does: 'end the conversation and its sessions',
    run: (chat, rest) => chat.agent.stop(rest || 'stopped in a chat'),
  },
  {
    name: '/help',
    takes: '',
    does: 'this list',
    run: (chat) => chat.print(help()),
  },
  {
    name: '/quit',
    takes: '',
    does: 'leave; the conversation continues (also ctrl-d)',
    run: (chat) => chat.leave(0),
  },
];

/** Throws `invalid_input` for an unknown command. */
export async function runChatCommand(chat: CommandedChat, line: string): Promise<void> {
  const [, name = '', rest = ''] = /^(\S+)\s*([^]*)$/.exec(line) ?? [];
  const command = COMMANDS.find((one) => one.name === name);
  if (command) return command.run(chat, rest.trim());
  throw new HoldfastError('invalid_input', {
    what: 'The command of this chat',
    got: name,
    allowed: COMMANDS.map((one) => one.name).join(', '),
    next: 'Type /help, or // to begin a message with a slash.',
  });
}

function help(): string {
  const width = Math.max(...COMMANDS.map(({ name, takes }) => name.length + takes.length + 1));
  const lines = COMMANDS.map(
    ({ name, takes, does }) => `${styled('bold', `${name} ${takes}`.padEnd(width))}  ${does}`,
  );
  return [
    ...lines,
    'A message typed while a turn is running waits for its end. Ctrl-C ends the turn.',
    'A backslash at the end of a line continues the message on the next; pasted text may have many lines.',
  ].join('\n');
}

async function attachTo(chat: CommandedChat, rest: string): Promise<void> {
  const { host, session } = sessionOf(chat, rest);
  const { agent, status, options } = chat;
  const isShown = status.running.some((one) => one.session === session && one.host === host);
  const deadline = Date.now() + (isShown ? OPENING_MS : 0);
  await chat.handOver(() =>
    whenThere(deadline, () => attach({ ...options, agent: agent.id, host, session, detachKey: 'ctrl-]' })),
  );
}

/** A session is shown as running before its terminal is open: for a moment, there may be nothing to attach to. */
async function whenThere(deadline: number, work: () => Promise<unknown>): Promise<void> {
  for (; ; await delay(LOOK_EVERY_MS)) {
    try {
      await work();
      return;
    } catch (err) {
      const isOpening = err instanceof HoldfastError && err.code === 'not_found' && Date.now() < deadline;
      if (!isOpening) throw err;
    }
  }
}

/** The one that waits for a person, else the only one in which something runs; of those with this number, if there is one. */
function sessionOf(
  { status, options }: CommandedChat,
  rest: string,
): Pick<RunningSession, 'host' | 'session'> {
  const [number = '', ...hosts] = rest.split(/\s+/);
  const session = number === '' ? null : checkedSession(/^\d+$/.test(number) ? Number(number) : number);
  if (session !== null && hosts.length > 0) return { host: checkedId('host', hosts.join(' ')), session };
  const isMeant = (one: RunningSession): boolean => session === null || one.session === session;
  const waiting = waitingSessions(status).filter(isMeant);
  const meant = waiting.length > 0 ? waiting : status.running.filter(isMeant);
  const [first] = meant;
  if (first && meant.length === 1) return first;
  const host = status.state?.host ?? options.host;
  // One in which nothing runs may be open, too.
  if (session !== null && !first) return { host, session };
  const isHere = meant.every((one) => one.host === host);
  throw new HoldfastError('invalid_input', {
    what: 'The session to attach to',
    got: session === null ? 'no number' : `${session}, on several hosts`,
    allowed:
      meant.map((one) => (isHere ? one.session : `${one.session} ${one.host}`)).join(', ') ||
      'the number of a session; /tree shows them',
  });
}

async function diff(chat: CommandedChat, rest: string): Promise<void> {
  const step = rest === '' ? undefined : stepOf(rest);
  const { text, changes, isCut } = await chat.agent.workspace.diff({ step });
  const lines = text === null ? changeLines(changes) : diffLines(text);
  if (lines.length > 0) chat.print(lines.join('\n'));
  note(countsText(changes.counts));
  if (isCut) note('The rest of it is too long: look at single steps.');
}

async function rewind(chat: CommandedChat, rest: string): Promise<void> {
  const { agent } = chat;
  const [to = '', ...words] = rest.split(/\s+/);
  const parts = words.filter((word) => REWOUND_PARTS.some((part) => part === word)) as RewoundPart[];
  const others = words.filter((word) => !parts.includes(word as RewoundPart));
  const unknown = others.filter((word) => word !== '--force' && word !== '--stop');
  if (unknown.length > 0 || parts.length > 1)
    throw new HoldfastError('invalid_input', {
      what: '/rewind',
      got: rest,
      allowed: `a step, one of ${REWOUND_PARTS.join(', ')}, --force, --stop`,
    });
  const [what] = parts;
  const [force, stop] = [others.includes('--force'), others.includes('--stop')];
  const result = await agent.workspace.rewind(stepOf(to), { ...(what && { what }), force, stop });
  const lines = result.files ? changeLines(result.files.changes) : [];
  if (lines.length > 0) chat.print(lines.join('\n'));
  const undo = (step: number): string => `/rewind ${step}`;
  const { host } = chat.status.state ?? chat.options;
  const reset = (session: number): string =>
    `holdfast reset${sameSession({ ...chat.options, agent: agent.id, host, session })}`;
  for (const remark of rewindRemarks({ result, isDry: false, undo, reset })) note(remark);
}

function stepOf(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new HoldfastError('invalid_input', {
    what: 'The step',
    got: text === '' ? 'none' : text,
    allowed: 'its number',
    next: 'Type /log, which lists the steps.',
  });
}

async function fork(chat: CommandedChat, rest: string): Promise<void> {
  const at = rest === '' ? undefined : Number(rest);
  const id = `${chat.agent.id.slice(0, 50)}-${randomBytes(3).toString('hex')}`;
  const forked = await chat.agent.fork(id, at === undefined ? {} : { at });
  const back = `holdfast chat --agent ${chat.agent.id}${sameServer(chat.options)}`;
  note(`This is now ${id}; ${chat.agent.id} keeps running too: \`${back}\`.`);
  chat.switchTo(forked);
}
