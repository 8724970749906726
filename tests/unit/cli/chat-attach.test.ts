// Which terminal `/attach` opens in a chat.
import { runChatCommand, type CommandedChat } from '../../../cli/chat/chat-commands';
import { newStatus, type RunningSession } from '../../../cli/chat/status-lines';
import { attach } from '../../../cli/commands/attach';
import type { AgentState } from '../../../contracts/agents/agent';

jest.mock('../../../cli/commands/attach', () => ({ attach: jest.fn(() => Promise.resolve(0)) }));

const running = (host: string, session: number): RunningSession => ({ host, session, waits: null });
const waiting = (host: string, session: number): RunningSession => ({
  ...running(host, session),
  waits: { for: 'input', since: '2026-01-01T00:00:00Z' },
});

/** The host and session of the terminal that opens. */
async function opened(line: string, sessions: RunningSession[]): Promise<string> {
  const status = newStatus('a');
  status.state = { host: 'desk', status: 'working' } as AgentState;
  status.running = sessions;
  const chat = {
    status,
    agent: { id: 'a' },
    options: { host: 'local' },
    handOver: (work: () => unknown) => work(),
  };
  await runChatCommand(chat as unknown as CommandedChat, line);
  const [given] = jest.mocked(attach).mock.lastCall ?? [];
  return `${given?.host} ${given?.session}`;
}

test.each([
  ['/attach 0', [running('desk', 0), waiting('laptop', 0)], 'laptop 0'],
  ['/attach', [running('desk', 0), waiting('laptop', 0)], 'laptop 0'],
  ['/attach 0 desk', [running('desk', 0), waiting('laptop', 0)], 'desk 0'],
  ['/attach 1', [running('desk', 0), running('laptop', 1)], 'laptop 1'],
  ['/attach 2', [running('desk', 0), waiting('laptop', 0)], 'desk 2'],
])('%s opens the terminal that waits, on its own host: %j', async (line, sessions, place) => {
  expect(await opened(line, sessions)).toBe(place);
});

test('/attach with a number that waits on several hosts opens none and asks for the host', async () => {
  await expect(opened('/attach 0', [waiting('desk', 0), waiting('laptop', 0)])).rejects.toMatchObject({
    facts: { got: '0, on several hosts', allowed: '0 desk, 0 laptop' },
  });
});
