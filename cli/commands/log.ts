// `holdfast log`: the steps of an agent, and what each did to files.
import { wordsOf } from '../../client/agents/failed-agents';
import { inertLine } from '../../contracts/text/inert';
import { agentId } from '../arguments';
import { openContext } from '../context';
import type { GlobalOptions } from '../global-options';
import { action, examples, type Define } from '../define-command';
import { printJson } from '../print/print-json';
import { printLines, stepLine } from '../print/workspace-lines';
import { whyText } from '../print/work-lines';
import { note, styled } from '../terminal/terminal-style';

export const define: Define = (command) =>
  command
    .addHelpText('after', examples('holdfast log review', 'holdfast log review --json | jq .steps'))
    .action(action((id: string, options: GlobalOptions) => log(agentId(id), options)));

/** One line for each step. */
async function log(agent: string, options: GlobalOptions): Promise<number> {
  await using context = await openContext(options, { start: false, restarts: true });
  const handle = context.client.agent(agent);
  const [steps, state] = await Promise.all([handle.workspace.steps(), handle.presentState()]);
  const { lastResult, currentTurn, status } = state;
  const failure = currentTurn === null && lastResult && wordsOf(lastResult, { isOpen: status !== 'ended' });
  if (options.json) {
    printJson({ agent, steps, failure: failure ?? null });
    return 0;
  }
  if (steps.length > 0) printLines(steps.map(stepLine));
  else if (!failure) note('It has no steps yet.');
  if (failure) note(styled('red', inertLine(`Its last turn failed: ${whyText(failure)}`), process.stderr));
  return 0;
}
