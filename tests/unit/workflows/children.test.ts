import * as workflow from '@temporalio/workflow';
import { executeAgent } from '../../../workflows/children';

jest.mock('@temporalio/workflow', () => ({
  ...jest.requireActual<typeof workflow>('@temporalio/workflow'),
  executeChild: jest.fn(),
}));

const summaryOf = async (task: string): Promise<unknown> => {
  await executeAgent('a', { task, model: 'scripted:x' });
  return (jest.mocked(workflow.executeChild).mock.lastCall as unknown[] | undefined)?.[1];
};

test.each([
  ['is one line of plain text', 'Deploy\n\x1b[31mit\x1b[0m', 'Deploy it'],
  ['cuts no character in half', '😀'.repeat(200), `${'😀'.repeat(95)}…`],
])('the summary of an agent as a child %s', async (_what, task, staticSummary) => {
  expect(await summaryOf(task)).toMatchObject({ staticSummary });
});
