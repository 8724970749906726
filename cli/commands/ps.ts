// `holdfast ps` and `holdfast tree`: agents, turns and sessions, what each waits for, and who ended what.
import { HoldfastError } from '../../contracts/errors';
import { openContext, type GlobalOptions } from '../context';
import { visibleJson } from '../print-json';
import { watch } from '../watch';
import { allWork, type Work } from '../work';
import { family, forest, table } from '../work-lines';

export interface PsOptions extends GlobalOptions {
  all?: boolean;
  watch?: boolean;
}

export const ps = (options: PsOptions): Promise<number> => show(options, (work) => work, table);

/** Of one agent and those below it where it is named. Throws `not_found` where nothing is of that agent. */
export const tree = (agent: string | undefined, options: PsOptions): Promise<number> =>
  show(
    options,
    (work) => (agent === undefined ? work : ofAgent(work, agent)),
    (work) => forest(work, agent),
  );

function ofAgent(all: Work[], agent: string): Work[] {
  const own = family(all, agent);
  if (own.length > 0) return own;
  throw new HoldfastError('not_found', {
    what: 'An open agent',
    got: agent,
    allowed: [...new Set(all.map((work) => work.agent))].join(', ') || 'none: nothing is open',
    next: 'Look at `holdfast tree --all` for those that have ended.',
  });
}

async function show(
  options: PsOptions,
  select: (work: Work[]) => Work[],
  draw: (work: Work[]) => string,
): Promise<number> {
  await using context = await openContext(options, { start: false, staysOnFullDisk: true });
  const render = async (): Promise<string> => {
    const work = select(await allWork(context, options.all ?? false));
    return options.json ? `${visibleJson(work)}\n` : draw(work);
  };
  if (options.watch) return await watch(render);
  process.stdout.write(await render());
  return 0;
}
