// A conversation of many steps, as the events of an agent show it.
import type { AgentOverview, Message } from '../../../contracts/agents/agent';
import type { ToldEvent } from './made-up-stream';

/** Each step calls a tool and gets a result; every hundredth fails. */
export function longConversation(steps: number, state: AgentOverview): ToldEvent[] {
  const messages: Message[] = [{ role: 'user', text: 'Look at everything.' }];
  for (let step = 1; step <= steps; step++) {
    const call = { callId: 'c', tool: 'shell', args: { command: ['ls', '-la', `folder-${step}`] } };
    const usage = { inputTokens: 1_200, outputTokens: 21, cachedTokens: 0, costUsd: 0.001 };
    const parsed = {
      kind: 'calls' as const,
      calls: [call],
      headline: `Look ${step}`,
      thoughts: [],
      prose: '',
    };
    const content = `${'total 4\n'.repeat(20)}file-${step}`;
    messages.push(
      { role: 'assistant', parsed, usage, step },
      { role: 'tool', callId: 'c', tool: 'shell', content, isError: step % 100 === 50 },
    );
  }
  const parsed = { kind: 'answer' as const, answer: 'All of it was looked at.' };
  messages.push({ role: 'assistant', parsed, step: steps + 1 });
  return [
    ['state', { ...state, messages: messages.length, turns: 1, currentTurn: null, turn: null }],
    ...messages.map((message, index): ToldEvent => ['message', { index, message }]),
  ];
}
