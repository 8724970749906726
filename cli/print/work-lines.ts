// Open work as lines of text: a table, or each agent with everything below it.
import type { WhyFailed } from '../../client/agents/failed-agents';
import { inertLine } from '../../contracts/text/inert';
import { label } from '../../contracts/text/labels';
import { WORKFLOWS } from '../../contracts/messages';
import { age } from './age';
import { styled } from '../terminal/terminal-style';
import { usageText } from './usage-text';
import { endedBy } from './view-facts';
import type { SubAgentWork, Work } from './work';

/** The most of a failure's message: a provider's may be long. */
const MESSAGE_CHARACTERS = 300;

const NOTHING = 'nothing is open\n';

export function table(all: Work[]): string {
  if (all.length === 0) return NOTHING;
  // Not Math.max(...): there may be more of them than a call may have arguments.
  const width = all.reduce((widest, { workflowId }) => Math.max(widest, inertLine(workflowId).length), 0);
  return all
    .map((work) => `${bold(work.workflowId, width)}  ${age(work.since).padStart(7)}  ${facts(work)}\n`)
    .join('');
}

/**
 * Below each agent its turns, sessions and sub-agents with theirs; sessions of a name that is no agent are listed below
 * that name. With `root` only that agent.
 */
export function forest(all: Work[], root?: string): string {
  if (all.length === 0) return NOTHING;
  const below = new Set(all.flatMap(({ subAgents }) => subAgents.map(({ agent }) => agent)));
  const names = [...new Set(all.map(({ agent }) => agent))];
  const roots = root === undefined ? names.filter((name) => !below.has(name)) : [root];
  return `${roots.flatMap((name) => agentLines(all, name)).join('\n')}\n`;
}

/** Everything of an agent and of those below it. */
export function family(all: Work[], agent: string): Work[] {
  const names = new Set([agent]);
  for (const name of names) {
    for (const { subAgents } of headsOf(all, name)) for (const one of subAgents) names.add(one.agent);
  }
  return all.filter((work) => names.has(work.agent));
}

function agentLines(all: Work[], agent: string, role?: string): string[] {
  const heads = headsOf(all, agent);
  const named = role === undefined ? '' : ` (${inertLine(role)})`;
  const own = heads.map((head) => `${bold(head.workflowId)}${named}  ${age(head.since)}  ${facts(head)}`);
  const rest = all.filter((work) => work.agent === agent && work.type !== WORKFLOWS.agent);
  const isHere = (name: string): boolean => all.some((work) => work.agent === name);
  const branches = [
    ...rest.map((work) => [`${bold(nameOf(work))}  ${age(work.since)}  ${facts(work)}`]),
    ...heads
      .flatMap(({ subAgents }) => subAgents)
      .map((one) => (isHere(one.agent) ? agentLines(all, one.agent, one.role) : [subAgentLine(one)])),
  ];
  const first = own.length > 0 ? own : [`${bold(agent)}  no agent is open`];
  return [...first, ...branches.flatMap((lines, index) => hang(lines, index === branches.length - 1))];
}

const headsOf = (all: Work[], name: string): Work[] =>
  all.filter(({ type, agent }) => type === WORKFLOWS.agent && agent === name);

const hang = (lines: string[], isLast: boolean): string[] =>
  lines.map((line, index) =>
    index === 0 ? `${isLast ? '└─' : '├─'} ${line}` : `${isLast ? '  ' : '│ '} ${line}`,
  );

/** As its parent knows it: it has ended, or was started just now. */
function subAgentLine({ agent, role, status, since, reason, usage }: SubAgentWork): string {
  const how = status === 'running' ? 'running' : `ended as ${reason ?? 'unknown'} ${age(since)} ago`;
  const text = [how, usageText(usage)].filter((part) => part).join('; ');
  return `${bold(`agent/${agent}`)} (${inertLine(role)})  ${styled('dim', inertLine(text))}`;
}

const nameOf = ({ workflowId, type }: Work): string =>
  type === WORKFLOWS.turn
    ? `turn ${workflowId.split('/').at(-1)}`
    : `session ${workflowId.split('/').slice(2).join('/')}`;

const endText = ({ at, ...end }: NonNullable<Work['killed']>): string =>
  `last ${endedBy(end)}${at ? ` ${age(at)} ago` : ''}`;

/** For example `step_limit: The turn took as many steps as it may. Next: Send a message to go on.` */
export const whyText = ({ code, message, next }: WhyFailed): string =>
  `${code}: ${label(message, MESSAGE_CHARACTERS)} Next: ${next}`;

const bold = (name: string, width = 0): string => styled('bold', inertLine(name).padEnd(width));

function facts({ doing, listed, waits, killed, end, usage, failure }: Work): string {
  const failed = failure && styled('red', inertLine(whyText(failure)));
  if (end) {
    const how = styled('dim', inertLine(`${end.how}${end.at ? `, ${age(end.at)} ago` : ''}`));
    return failed ? `${how}; ${failed}` : how;
  }
  const parts = [
    inertLine(doing ?? (listed ? 'was not asked' : 'no worker answers')),
    failed,
    waits && styled('yellow', inertLine(`waits for ${waits.for} since ${age(waits.since)}`)),
    waits?.trouble && styled('red', inertLine(waits.trouble)),
    killed && inertLine(endText(killed)),
    inertLine(usageText(usage)),
  ];
  return parts.filter((part) => part).join('; ');
}
