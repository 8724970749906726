// Which of the pending approvals `holdfast approve` and `holdfast deny` mean, and how they show it.
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import type { AnsweredApprovals, ApprovalDesk, WaitingApproval } from '../client/agents/approval-desk';
import type { Approval } from '../contracts/tools/approvals';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { parseSessionWorkflowId } from '../contracts/ids';
import { inertLine, inertText } from '../contracts/text/inert';
import { knownError } from '../system/known-error';
import { agentId, hostName, named, sessionNumber } from './arguments';
import { openContext } from './context';
import type { GlobalOptions } from './global-options';
import type { CliContext } from './open-context';
import { printJson } from './print/print-json';
import { reportUnanswered, reportUnread } from './print/report-unanswered';
import { captionOf } from '../contracts/tools/shown-values';
import { note, styled } from './terminal/terminal-style';

export interface AnswerOptions extends GlobalOptions {
  agent?: string;
  /** Only what waits in sessions there. */
  host?: string;
  /** Only what waits in sessions with this number. */
  session?: number;
  reason?: string;
  /** The same rules are not asked about again in that session or turn. */
  forSession?: boolean;
  /** Only shows what is pending. */
  list?: boolean;
  /** Only shows one in full. */
  show?: boolean;
}

/** The options of both commands. An empty id is a variable of a script that is not set. */
export function withChoice(command: Command): Command {
  command.registeredArguments[0]?.argParser(named);
  return command
    .option('--agent <id>', 'only those of this agent', agentId)
    .option('--host <name>', 'only those of sessions on this host', hostName)
    .option('--session <n>', 'only those of sessions with this number', sessionNumber)
    .option('--list', 'only show what is pending')
    .option('--show', 'only show one in full, however long it is');
}

export async function answer(
  id: string | undefined,
  options: AnswerOptions,
  said: 'approved' | 'denied',
  send: (context: CliContext, one: WaitingApproval) => Promise<Approval>,
): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const { agent } = options;
  const { approvals } = context.client;
  const asked = { agent, covers: (workflowId: string) => isThere(workflowId, options) };
  const listed = await approvals.listAnswering(asked);
  if (options.list) {
    showAll(listed, options);
    return 0;
  }
  const { waiting, unanswered, unread } = listed;
  // One that needs longer to answer may have what is meant, or another with the same beginning.
  const isKnown = waiting.some((other) => other.id === id) && (isOneSession(options) || !mayRepeat(id));
  const isSure = unanswered.length + unread.length === 0 || isKnown;
  const one = chosen(isSure ? { waiting, silent: [] } : await approvals.listPatiently(asked), id);
  if (options.show) return await showWhole(context, one, options.json === true);
  // What the hash covers.
  if (said === 'approved' && !options.json) process.stdout.write(shown(one));
  await send(context, one);
  if (options.json) printJson({ ...one, answer: said });
  else process.stdout.write(`${said}: ${inertLine(one.what)}\n`);
  return 0;
}

/** Calls of scripts are counted in each session: `e1c1` (`ToolCalls` of the holder). */
const mayRepeat = (id = ''): boolean => /^e\d+c\d+$/.test(id);

const isOneSession = ({ agent, host, session }: AnswerOptions): boolean =>
  agent !== undefined && host !== undefined && session !== undefined;

function isThere(workflowId: string, { host, session }: AnswerOptions): boolean {
  if (host === undefined && session === undefined) return true;
  const ref = parseSessionWorkflowId(workflowId);
  return (
    ref !== undefined && [undefined, ref.host].includes(host) && [undefined, ref.session].includes(session)
  );
}

function showAll({ waiting, unanswered, unread }: AnsweredApprovals, options: AnswerOptions): void {
  if (options.json) printJson(waiting);
  else if (waiting.length + unanswered.length + unread.length === 0) note('Nothing waits for an approval.');
  else for (const one of waiting) process.stdout.write(shown(one));
  reportUnanswered(options, {
    what: 'sessions and turns',
    unanswered: unanswered.map(({ workflowId, error }) => `${workflowId} (${error.code})`),
    next: 'what they wait for is not in this list',
  });
  reportUnread(options, unread);
}

type Pending = Awaited<ReturnType<ApprovalDesk['listPatiently']>>;

const isMeantBy =
  (id: string | undefined) =>
  (one: WaitingApproval): boolean =>
    id === undefined || one.id.startsWith(id);

/**
 * Throws `approval_unknown`, which lists what is pending, if it is not clear which one is meant: where some could not be
 * asked, only a whole id that does not repeat says that. Where nothing else waits, throws what kept them from answering.
 */
function chosen({ waiting, silent }: Pending, id: string | undefined): WaitingApproval {
  const exact = waiting.filter((one) => one.id === id);
  const meant = exact.length > 0 ? exact : waiting.filter(isMeantBy(id));
  const [one, ...more] = meant;
  const [first] = silent;
  if (one && more.length === 0 && (!first || (exact.length > 0 && !mayRepeat(id)))) return one;
  if (first && waiting.length === 0) throw first.reason;
  const all = meant.length > 0 ? meant : waiting;
  const isTwice = (other: WaitingApproval): boolean =>
    all.filter(({ id: same }) => same === other.id).length > 1;
  // Of scripts' calls, and of commands whose callers chose the id.
  const named = (other: WaitingApproval): string =>
    isTwice(other) ? `${other.id} in ${other.workflowId}` : other.id;
  const allowed = all.map(named).join(', ');
  const wholeIds = mayRepeat(id)
    ? 'this id with its `--agent`, `--host` and `--session`, because calls of scripts have the same ids elsewhere'
    : `a whole id, such as ${allowed}`;
  const got = id ?? (waiting.length === 0 ? 'no id' : `no id, and ${waiting.length} are waiting`);
  const unasked = silent.map(({ what, reason }) => `${what} (${knownError(reason).code})`).join(', ');
  throw new HoldfastError('approval_unknown', {
    got: unasked ? `${got}, while more may wait where nothing answers: ${unasked}` : got,
    allowed: unasked ? wholeIds : allowed || 'none, because nothing is waiting',
    ...(!unasked && meant.length > 1 && { several: true }),
  });
}

/** One in full, however long it is. */
async function showWhole(
  { client }: CliContext,
  one: WaitingApproval,
  isForPrograms: boolean,
): Promise<number> {
  const whole = (await client.approvals.whole(one)) ?? one;
  if (isForPrograms) printJson(whole);
  else process.stdout.write(shown(whole));
  return 0;
}

const MARGIN = '    ';

function shown({
  id,
  hash,
  what,
  reasons,
  place,
  agent,
  runs,
  values = [],
  ...one
}: WaitingApproval): string {
  const { workflowId, expiresAt } = one;
  const fact = (name: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`  ${name.padEnd(7)}${inertLine(value)}\n`];
  return [
    `${styled('bold', inertLine(what))}\n`,
    ...reasons.map(({ rule, found }) => `  ${styled('yellow', inertLine(rule))}: ${inertLine(found)}\n`),
    ...fact('runs', runs),
    ...fact('folder', place && (place.cwd ?? 'not known')),
    ...fact('host', place?.host),
    ...fact('agent', agent),
    ...values.map((value) => `  ${inertLine(captionOf(value))}\n${indented(value.text)}`),
    ...fact('id', id),
    ...fact('hash', hash),
    `  ${styled('dim', `in ${inertLine(workflowId)}, until ${inertLine(expiresAt)}`)}\n`,
  ].join('');
}

const indented = (text: string): string =>
  inertText(text)
    .split('\n')
    .map((line) => `${MARGIN}${line}\n`)
    .join('');

/** For the record: the user of this terminal. */
export function person(): string {
  try {
    return userInfo().username;
  } catch {
    return 'someone at the command line';
  }
}
