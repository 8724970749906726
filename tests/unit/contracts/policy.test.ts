// What the policy says about a command, depending on its agent.
import { DEFAULT_POLICY, rulingOn } from '../../../contracts/tools/policy';
import { subAgentId } from '../../../contracts/agents/sub-agents';

const long = 'x'.repeat(60);
const policy = {
  ...DEFAULT_POLICY,
  agents: { intern: 'ask', [long]: 'deny', ['m'.repeat(30)]: 'deny', chief: 'allow' },
} as const;
const decisionOf = (agent: string): string =>
  rulingOn(policy, { agent, host: 'local', verdicts: [] }).decision;

test('what an agent is asked about, those below it are asked about too, however deep', () => {
  expect(decisionOf('intern')).toBe('ask');
  const child = subAgentId('intern', 'Helper of all', 1);
  expect(decisionOf(child)).toBe('ask');
  expect(decisionOf(subAgentId(subAgentId(child, 'a', 2), 'b', 3))).toBe('ask');
  expect(decisionOf(subAgentId(long, 'a', 1))).toBe('deny');
  expect(decisionOf(subAgentId(subAgentId(long, 'a', 1), 'b', 2))).toBe('deny');
  const middling = subAgentId(subAgentId('m'.repeat(30), 'a', 1), 'b', 2);
  expect(decisionOf(middling)).toBe('deny');
});

test.each(['interns', 'intern-deploy', 'chief', 'other', 'constructor', '__proto__'])(
  'agent %s is not one of them',
  (agent) => {
    expect(decisionOf(agent)).toBe('allow');
  },
);
