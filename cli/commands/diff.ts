// `holdfast diff`: what an agent changed in its files.
import type { DiffOptions } from '../../client/agents/agent-workspace';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { countsText } from '../../contracts/workspaces/change-texts';
import { agentId, wholeNumber } from '../arguments';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import { action, examples, type Define } from '../define-command';
import { printJson } from '../print/print-json';
import { changeLines, diffLines, printLines } from '../print/workspace-lines';
import { note } from '../terminal/terminal-style';

interface DiffCommandOptions extends GlobalOptions, Pick<DiffOptions, 'step' | 'from' | 'to' | 'turn'> {
  stat?: boolean;
}

export const define: Define = (command) =>
  command
    .option('--step <n>', 'in one step', wholeNumber)
    .option('--from <n>', 'after the end of this step', wholeNumber)
    .option('--to <n>', 'up to the end of this step', wholeNumber)
    .option('--turn <n>', 'in one turn', wholeNumber)
    .option('--stat', 'only which files')
    .addHelpText(
      'after',
      examples(
        'holdfast diff review                 all that it changed',
        'holdfast diff review --step 4        in one step',
        'holdfast diff review --from 4 --stat which files since step 4',
      ),
    )
    .action(action((id: string, options: DiffCommandOptions) => diff(agentId(id), options)));

async function diff(agent: string, options: DiffCommandOptions): Promise<number> {
  const { step, from, to, turn, stat = false } = options;
  if (step !== undefined && (from ?? to ?? turn) !== undefined)
    throw new HoldfastError('invalid_input', {
      what: '--step',
      got: 'another range beside it',
      allowed: 'one of --step, --turn, or --from and --to',
    });
  await using context = await openContext(options, { start: false, restarts: true });
  const compared = await context.client.agent(agent).workspace.diff({ step, from, to, turn, lines: !stat });
  if (options.json) printJson({ agent, ...compared });
  // An empty text: nothing has changed, and that is said.
  else if (stat || !compared.text) {
    printLines(changeLines(compared.changes));
    note(countsText(compared.changes.counts));
  } else {
    printLines(diffLines(compared.text));
    if (compared.isCut)
      note('The rest of it is too long: see which files with --stat, and fewer steps with --step.');
  }
  return 0;
}
