import type { ToolCall } from '../../../contracts/agents/agent';
import { newStatus, sawMessage, waitingSessions } from '../../../cli/chat/status-lines';

const SCRIPT = 980_123;

function afterCall(call: Omit<ToolCall, 'callId'>, running: number[], isDone = false): number[] {
  const status = newStatus('a');
  status.running = running.map((session) => ({ session, waits: null }));
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

test('an interactive script that an earlier release recorded is named in whichever session it runs', () => {
  const call = { tool: 'execute_python_code', args: { code: 'x', interactive: true } };
  expect(afterCall(call, [3, SCRIPT])).toEqual([SCRIPT]);
  expect(afterCall({ ...call, args: { ...call.args, session: 3 } }, [3, SCRIPT])).toEqual([3]);
});
