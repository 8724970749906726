import type { ToolCall } from '../../../contracts/agents/agent';
import { printMessage } from '../../../cli/print/print-message';

function printed(call: Omit<ToolCall, 'callId'>): string {
  let text = '';
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  const parsed = { kind: 'calls', headline: null, thoughts: [], prose: '' } as const;
  const calls = [{ callId: 'a', ...call }];
  printMessage({ role: 'assistant', text: 'the reply', parsed: { ...parsed, calls, thoughts: [] } });
  write.mockRestore();
  return text.trim().replace(/^call {2}/, '');
}

const typed = { tool: 'input', args: { session: 2, keyboard: 'correct-horse', keys: ['tab'] } };
const TYPED = 'input session 2 {"keys":["tab"]}: (13 characters)';
const ran = {
  tool: 'code_execution_tool',
  args: { runtime: 'python', session: 1, wait: 'exit', code: 'a\nb' },
};
const RAN = 'code_execution_tool python session 1 {"wait":"exit"}: a\n           b';

test('text typed into a program is not shown, only its length', () => {
  const roles = { session: 'session', typed: 'keyboard' };
  expect(printed({ ...typed, facts: { session: 2, roles } })).toBe(TYPED);
  const elsewhere = { tool: 'own', args: { to: 7, chars: 'correct-horse' } };
  expect(printed({ ...elsewhere, facts: { roles: { typed: 'chars' } } })).toBe(
    'own {"to":7}: (13 characters)',
  );
});

test('typed text that is no text is not shown at all', () => {
  const args = { keyboard: 12_345 };
  expect(printed({ tool: 'input', args, facts: { roles: { typed: 'keyboard' } } })).toBe('input');
});

test('a call is shown by the roles that its tool declares: runtime and session before, code behind the others', () => {
  const roles = { runtime: 'runtime', session: 'session', code: 'code' };
  expect(printed({ ...ran, facts: { session: 1, roles } })).toBe(RAN);
  expect(printed({ ...ran, tool: 'own', facts: {} })).toBe(
    'own {"runtime":"python","session":1,"wait":"exit","code":"a\\nb"}',
  );
});

test('what is typed into a tool that is misspelled is not shown', () => {
  expect(printed({ ...typed, tool: 'inputt', facts: {} })).toBe(
    'inputt {"session":2,"keys":["tab"]}: (13 characters)',
  );
});

test('a call that was recorded without facts is shown as by the release that recorded it', () => {
  expect(printed(typed)).toBe(TYPED);
  expect(printed(ran)).toBe(RAN);
});
