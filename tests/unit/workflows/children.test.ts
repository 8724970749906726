import * as workflow from '@temporalio/workflow';
import { ApplicationFailure } from '@temporalio/common';
import type { QueryDefinition, SignalDefinition, UpdateDefinition } from '@temporalio/common';
import type { AgentInput, SendRequest } from '../../../contracts/schemas/agent';
import type { AgentResult } from '../../../contracts/agents/agent';
import type { InputRequest } from '../../../contracts/schemas/session';
import type { CommandView } from '../../../contracts/sessions/session';
import { agentError, agentMessages, executeAgent, sessionMessages } from '../../../workflows/children';

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

describe('an input of which no summary can be made', () => {
  const start = (input: unknown): Promise<unknown> => executeAgent('a', input as AgentInput);
  test.each([
    [{ task: 5 }, '{"task":5}'],
    [{ task: { text: 'x' } }, '{"task":{"text":"x"}}'],
    [null, 'null'],
    [undefined, 'nothing'],
  ])('%j fails the workflow, not its task over and over', async (input, got) => {
    const err: unknown = await start(input).catch((thrown: unknown) => thrown);
    expect(err).toBeInstanceOf(ApplicationFailure);
    expect(agentError(err)).toMatchObject({ code: 'invalid_input', facts: { got } });
  });
});

/** As the package has exported them: other workflows depend on them. */
test.each([
  [
    'agents and turns',
    agentMessages,
    [
      ...[
        'agentEndedSignal',
        'agentsEndedSignal',
        'agentsSpawnedSignal',
        'approveAgentSignal',
        'approveAgentUpdate',
        'awaitAgentsSignal',
      ],
      ...[
        'denyAgentSignal',
        'denyAgentUpdate',
        'interruptAgentSignal',
        'interruptAgentUpdate',
        'interruptSignal',
      ],
      ...['questionsSignal', 'recoverSignal', 'recoverUpdate', 'sendSignal', 'sendUpdate'],
      ...['spawnAgentsSignal', 'spawnUpdate'],
      ...['stateQuery', 'stopSignal', 'transcriptQuery', 'turnStateQuery', 'waitForAgentsUpdate'],
    ],
  ],
  [
    'sessions',
    sessionMessages,
    [
      ...[
        'cancelToolsSignal',
        'closeSignal',
        'execUpdate',
        'inputSignal',
        'inputUpdate',
        'openUpdate',
        'outputQuery',
      ],
      ...['outputUpdate', 'pollSignal', 'resetSignal', 'resetUpdate', 'stateQuery', 'toolCallUpdate'],
      ...['toolResultsUpdate', 'waitUpdate', 'yieldedSignal'],
    ],
  ],
])(
  'the definitions of messages to %s keep their names, and those of their messages',
  (_to, messages, names) => {
    expect(names.filter((name) => !(name in messages))).toEqual([]);
    for (const [key, { type, name }] of Object.entries<{ type: string; name: string }>(messages)) {
      const of = key.replace(/Agent(?=Signal|Update)/, '').replace('turnState', 'state');
      expect(`${name}.${type}`).toBe(
        of.replace(/(Signal|Update|Query)$/, (kind) => `.${kind.toLowerCase()}`),
      );
    }
  },
);

test('a definition has the types of its message', () => {
  const send: UpdateDefinition<AgentResult, [SendRequest?]> = agentMessages.sendUpdate;
  const open: UpdateDefinition<CommandView> = sessionMessages.openUpdate;
  const input: SignalDefinition<[InputRequest?]> = sessionMessages.inputSignal;
  const output: QueryDefinition<CommandView | null> = sessionMessages.outputQuery;
  // @ts-expect-error Its text is missing.
  const wrong: SignalDefinition<[{ mode: 'queue' }]> = agentMessages.sendSignal;
  expect([send, open, input, output, wrong].map(({ type }) => type)).toHaveLength(5);
});
