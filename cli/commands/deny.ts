// `holdfast deny`: refuses a held command or call.
import { answer, person, withChoice, type AnswerOptions } from '../answer-approval';
import { action, examples, type Define } from '../define-command';

export const define: Define = (command) =>
  withChoice(command)
    .option('--reason <text>', 'shown to the model')
    .addHelpText(
      'after',
      examples(
        'holdfast deny --reason "use the staging one"   the only one pending',
        'holdfast deny ID --agent planner',
      ),
    )
    .action(action(deny));

const deny = (id: string | undefined, options: AnswerOptions): Promise<number> =>
  answer(id, options, 'denied', ({ client }, { id: found, workflowId }) => {
    const { reason } = options;
    return client.approvals.deny(workflowId, { id: found, by: person(), ...(reason && { reason }) });
  });
