// `holdfast ps` and `holdfast tree`: agents, turns and sessions, what each waits for, and who ended what.
import { WORKFLOWS } from '../../contracts/messages';
import { openContext, type GlobalOptions } from '../context';
import { inert } from '../print-message';
import { styled } from '../terminal-style';
import { watch } from '../watch';
import { allWork, type Work } from '../work';

export interface PsOptions extends GlobalOptions {
  all?: boolean;
  watch?: boolean;
}

export const ps = (options: PsOptions): Promise<number> => show(options, table);
export const tree = (options: PsOptions): Promise<number> => show(options, forest);

async function show(options: PsOptions, draw: (work: Work[]) => string): Promise<number> {
  const context = await openContext(options, { start: false });
  const render = async (): Promise<string> => {
    const work = await allWork(context, options.all ?? false);
    return options.json ? `${JSON.stringify(work)}\n` : draw(work);
  };
  try {
    if (options.watch) return await watch(render);
    process.stdout.write(await render());
    return 0;
  } finally {
    await context.close();
  }
}

const NOTHING = 'nothing is open\n';

function table(all: Work[]): string {
  if (all.length === 0) return NOTHING;
  const width = Math.max(...all.map(({ workflowId }) => workflowId.length));
  return all
    .map(
      (work) =>
        `${styled('bold', work.workflowId.padEnd(width))}  ${age(work.since).padStart(7)}  ${facts(work)}\n`,
    )
    .join('');
}

/** Below each agent its turns and sessions; sessions whose agent is none stand below its name. */
function forest(all: Work[]): string {
  if (all.length === 0) return NOTHING;
  const lines: string[] = [];
  for (const agent of new Set(all.map((work) => work.agent))) {
    const family = all.filter((work) => work.agent === agent);
    const heads = family.filter(({ type }) => type === WORKFLOWS.agent);
    const rest = family.filter(({ type }) => type !== WORKFLOWS.agent);
    if (heads.length === 0) lines.push(`${styled('bold', agent)}  no agent is open`);
    for (const head of heads)
      lines.push(`${styled('bold', head.workflowId)}  ${age(head.since)}  ${facts(head)}`);
    rest.forEach((work, index) => {
      const branch = index === rest.length - 1 ? '└─' : '├─';
      lines.push(`${branch} ${styled('bold', nameOf(work))}  ${age(work.since)}  ${facts(work)}`);
    });
  }
  return `${lines.join('\n')}\n`;
}

const nameOf = ({ workflowId, type }: Work): string =>
  type === WORKFLOWS.turn
    ? `turn ${workflowId.split('/').at(-1)}`
    : `session ${workflowId.split('/').slice(2).join('/')}`;

function facts({ doing, waits, killed, end }: Work): string {
  if (end) return styled('dim', inert(`${end.how}${end.at ? `, ${age(end.at)} ago` : ''}`));
  const parts = [
    doing ?? 'no worker answers',
    waits && styled('yellow', `waits for ${waits.for} since ${age(waits.since)}`),
    killed &&
      `last ended by ${killed.by}${killed.reason ? ` (${inert(killed.reason)})` : ''}${killed.at ? ` ${age(killed.at)} ago` : ''}`,
  ];
  return parts.filter((part) => part).join('; ');
}

/** How long ago, in the two largest units. */
function age(since: string): string {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1_000));
  const [minutes, hours, days] = [60, 3_600, 86_400].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ];
  if (days > 0) return `${days}d${hours % 24}h`;
  if (hours > 0) return `${hours}h${minutes % 60}m`;
  return minutes > 0 ? `${minutes}m${seconds % 60}s` : `${seconds}s`;
}
