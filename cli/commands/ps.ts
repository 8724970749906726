// `holdfast ps`: agents, turns and sessions in a table.
import { action, examples, type Define } from '../define-command';
import { ofWork, showWork, type PsOptions } from '../print/show-work';
import { table } from '../print/work-lines';

export const define: Define = (command) =>
  ofWork(command)
    .addHelpText(
      'after',
      examples(
        'holdfast ps --watch',
        'holdfast ps --all       with what has ended',
        'holdfast ps --json | jq .',
      ),
    )
    .action(action(ps));

/** A list of many is wanted now; `tree` has time for details. */
const PATIENCE_MS = 500;

const ps = (options: PsOptions): Promise<number> =>
  showWork({ ...options, patienceMs: PATIENCE_MS }, (work) => work, table);
