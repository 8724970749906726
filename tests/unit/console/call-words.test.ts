// The line of a call: what it ran, and how that ended.
import { commandLine, fateOf } from '../../../console/parts/conversation/call-words';
import type { ToolCall, ToolResult } from '../../../contracts/agents/agent';

const call = (more: Partial<ToolCall> = {}): ToolCall => ({ callId: 'c', tool: 'shell', args: {}, ...more });
const result = (more: Partial<ToolResult>): ToolResult => ({
  ...{ callId: 'c', tool: 'shell', content: 'x', isError: false, ...more },
});
const exited = { session: 0, state: 'exited' } as const;

test.each<[string, boolean, Partial<ToolResult>]>([
  ['exit 0', false, { content: 'Exit code: 0\nOutput:\n' }],
  ['exit 3', true, { content: 'Exit code: 3\nOutput:\n' }],
  ['exit 0', false, { tool: 'code_execution_tool', session: { ...exited, exitCode: 0 } }],
  ['exit 130, SIGINT', true, { tool: 'input', session: { ...exited, exitCode: 130, signal: 'SIGINT' } }],
  ['waits for input', false, { tool: 'input', session: { session: 0, state: 'waiting_input' } }],
  ['lost', true, { tool: 'output', session: { session: 0, state: 'lost' } }],
  ['12 B', false, { tool: 'read_file', content: 'Exit code: 3\n' }],
  ['failed', true, { isError: true, content: 'Error invalid_input: no' }],
])('%j (bad: %j) is how a result ended', (text, isBad, of) => {
  expect(fateOf(call(), result(of), '12 B')).toEqual({ text, isBad });
});

test.each([
  ['denied by ana', 'Error approval_denied: It was not approved by ana: not here; nothing was run. Next: x'],
  ['denied', 'Error approval_denied: It was not approved: not here; nothing was run. Next: x'],
  [
    'denied: nobody answered in time',
    'Error approval_expired: Nobody approved it within 5 ms (x); nothing was run.',
  ],
  ['denied by the policy', 'Error policy_denied: The policy forbids it: x; nothing was run.'],
])('%j is a refusal, not a failure', (text, content) => {
  expect(fateOf(call(), result({ isError: true, content }), '')).toEqual({ text, isBad: false });
});

test('a program with its arguments reads as a person would type it, a script as itself', () => {
  expect(commandLine(['ls', '-la', "it's here"])).toBe("ls -la 'it'\\''s here'");
  expect(commandLine(['bash', '-lc', 'make test | tail'])).toBe('make test | tail');
  expect(commandLine([1, 'a'])).toBeUndefined();
  expect(commandLine({ a: 1 })).toBeUndefined();
});
