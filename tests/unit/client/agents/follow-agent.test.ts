// Followers of turns that the server no longer keeps.
import type { AgentState, Message } from '../../../../contracts/agents/agent';
import { followAgent, type FollowedAgent } from '../../../../client/agents/follow-agent';
import type { Delivery } from '../../../../client/delivery/deliver';

/** Of three turns, only the second is left. */
const agentWith = (status: AgentState['status']): FollowedAgent => {
  const messages = ['user', 'assistant'].map((role) => ({ role, text: role }) as Message);
  const lastResult = { answer: 'three' };
  return {
    ownState: () => Promise.resolve({ turns: 3, currentTurn: null, status, lastResult } as AgentState),
    turnPage: (turn, from) =>
      Promise.resolve(turn === 2 ? { messages: messages.slice(from), total: 2 } : undefined),
  };
};

async function told(agent: FollowedAgent): Promise<unknown[]> {
  const events: unknown[] = [];
  const onTurnEnd = (turn: number, result: object | null): void => void events.push([turn, result]);
  const following = followAgent(agent, {} as Delivery, undefined, { onTurnEnd });
  for await (const { turn, message } of following) {
    events.push(`${turn} ${message.role}`);
  }
  return events;
}

test('turns that the server no longer keeps are left out, and hide none of those after them', async () => {
  expect(await told(agentWith('ended'))).toEqual([
    [1, null],
    '2 user',
    '2 assistant',
    [2, null],
    [3, { answer: 'three' }],
  ]);
}, 5_000);
