// `holdfast approve`: lets a held command or call run.
import { answer, person, withChoice, type AnswerOptions } from '../answer-approval';
import { action, examples, type Define } from '../define-command';

export const define: Define = (command) =>
  withChoice(command)
    .option('--for-session', 'do not ask about the same rules again there')
    .addHelpText(
      'after',
      examples(
        'holdfast approve --list                       what is pending, and why',
        'holdfast approve ID --show                    one in full: code or arguments, folder, host',
        'holdfast approve                              approve the only one pending',
        'holdfast approve ID --for-session             approve, and do not ask about the same rules again there',
        'holdfast approve e1c1 --session 2             that of session 2: calls of scripts may have the same ids',
      ),
    )
    .action(action(approve));

const approve = (id: string | undefined, options: AnswerOptions): Promise<number> =>
  answer(id, options, 'approved', ({ client }, { id: found, hash, workflowId }) => {
    const scope = options.forSession ? 'session' : 'once';
    return client.approvals.approve(workflowId, { id: found, hash, scope, by: person() });
  });
