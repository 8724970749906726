// `holdfast tree`: each agent with its turns, sessions and sub-agents.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { agentId } from '../arguments';
import type { CliContext } from '../open-context';
import { action, examples, type Define } from '../define-command';
import { ofWork, showWork, type PsOptions } from '../print/show-work';
import { allWork, type Work } from '../print/work';
import { family, forest } from '../print/work-lines';

export const define: Define = (command) =>
  ofWork(command)
    .addHelpText(
      'after',
      examples('holdfast tree', 'holdfast tree review --watch', 'holdfast tree review --json'),
    )
    .action(
      action((id: string | undefined, options: PsOptions) =>
        tree(id === undefined ? id : agentId(id), options),
      ),
    );

/** With `agent`, only that one and those below it. Throws `not_found` if that agent has nothing open. */
const tree = (agent: string | undefined, options: PsOptions): Promise<number> =>
  showWork(
    options,
    (work, context) => (agent === undefined ? work : ofAgent(work, agent, context)),
    (work) => forest(work, agent),
  );

/** Where nothing of it is open, what has ended. */
async function ofAgent(all: Work[], agent: string, context: CliContext): Promise<Work[]> {
  const own = family(all, agent);
  if (own.length > 0) return own;
  const ended = await allWork(context, { ended: true, agent });
  if (ended.length > 0) return ended;
  throw new HoldfastError('not_found', {
    what: 'The agent',
    got: agent,
    allowed: [...new Set(all.map((work) => work.agent))].join(', ') || 'none: nothing is open',
    next: 'Look at `holdfast tree --all`, which lists what has ended, too.',
  });
}
