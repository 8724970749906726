import { execFileSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import type { AgentState, ToolCall } from '../../../contracts/agents/agent';
import { newStatus, sawMessage, statusLines, waitingSessions } from '../../../cli/chat/status-lines';

const SCRIPT = 980_123;
const STATE = { host: 'local', status: 'working', turns: 1, queued: 0, usage: null } as AgentState;

function afterCall(call: Omit<ToolCall, 'callId'>, running: number[], isDone = false): number[] {
  const status = newStatus('a');
  status.state = STATE;
  status.running = running.map((session) => ({ host: 'local', session, waits: null }));
  const calls = [{ callId: 'c', ...call }];
  const parsed = { kind: 'calls' as const, calls, headline: null, thoughts: [], prose: '' };
  sawMessage(status, { role: 'assistant', parsed });
  if (isDone) sawMessage(status, { role: 'tool', callId: 'c', tool: 'x', content: '', isError: false });
  return waitingSessions(status).map(({ session }) => session);
}

test('a running session that a call gives to a person is named until the call has its result', () => {
  const call = { tool: 'own', args: {}, facts: { session: 3, forPerson: true } } as const;
  expect(afterCall(call, [3, SCRIPT])).toEqual([3]);
  expect(afterCall(call, [SCRIPT])).toEqual([]);
  expect(afterCall(call, [3], true)).toEqual([]);
});

test('a call that is for nobody is not named, whatever its arguments', () => {
  const call = { tool: 'own', args: { interactive: true, session: 3 }, facts: { session: 3 } };
  expect(afterCall(call, [3])).toEqual([]);
});

test('a session that waits is named with the host and the server that the command to attach needs', () => {
  const status = newStatus('a');
  status.state = STATE;
  const waits = { for: 'input', since: new Date().toISOString() };
  status.running = ['local', 'laptop'].map((host) => ({ host, session: 0, waits }));
  const given = { data: '/my data', host: 'local', namespace: 'own' };
  const lines = statusLines(status, false, 200, given).join('\n');
  expect(lines).toMatch(/session 0 waits for input since \S+: \/attach 0, or/);
  expect(lines).toContain("  holdfast attach --agent a --data '/my data' --namespace own");
  expect(lines).toMatch(/session 0 on laptop waits for input since \S+: \/attach 0 laptop, or/);
  expect(lines).toContain("  holdfast attach --agent a --host laptop --data '/my data' --namespace own");
});

test('the command to attach fits a narrow terminal and is the same command when its lines are copied', () => {
  const status = newStatus('a-conversation');
  status.state = STATE;
  const waits = { for: 'input', since: new Date().toISOString() };
  status.running = [{ host: 'laptop', session: 12, waits }];
  const given = { data: "/it's my data", address: `${'far.'.repeat(12)}example:7233`, namespace: 'own' };
  const [, ...lines] = statusLines(status, false, 40, given).slice(0, -1).map(stripVTControlCharacters);
  // A long word is left to the terminal.
  for (const line of lines) if (!line.includes('far.')) expect(line.length).toBeLessThanOrEqual(40);
  const words = execFileSync('sh', ['-c', `holdfast() { printf '%s\\n' "$@"; }\n${lines.join('\n')}`]);
  expect(words.toString().trimEnd().split('\n')).toEqual([
    ...['attach', '--agent', 'a-conversation', '--host', 'laptop', '--session', '12'],
    ...['--data', given.data, '--address', given.address, '--namespace', 'own'],
  ]);
});

test('a script is a person’s only on the agent’s own host', () => {
  const status = newStatus('a');
  status.state = STATE;
  status.forPeople.set('c', SCRIPT);
  status.running = [{ host: 'laptop', session: SCRIPT, waits: null }];
  expect(waitingSessions(status)).toEqual([]);
});
