// `holdfast log`: the steps of an agent, and what each did to files.
import { agentId } from '../arguments';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import { action, examples, type Define } from '../define-command';
import { printJson } from '../print/print-json';
import { printLines, stepLine } from '../print/workspace-lines';
import { note } from '../terminal/terminal-style';

export const define: Define = (command) =>
  command
    .addHelpText('after', examples('holdfast log review', 'holdfast log review --json | jq .steps'))
    .action(action((id: string, options: GlobalOptions) => log(agentId(id), options)));

/** One line for each step. */
async function log(agent: string, options: GlobalOptions): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const steps = await context.client.agent(agent).workspace.steps();
  if (options.json) printJson({ agent, steps });
  else if (steps.length === 0) note('It has no steps yet.');
  else printLines(steps.map(stepLine));
  return 0;
}
