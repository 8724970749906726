import type { Message, ToolCall } from '../../../contracts/agents/agent';
import { printMessage } from '../../../cli/print/print-message';

function printed(call: Omit<ToolCall, 'callId'>): string {
  const parsed = { kind: 'calls', headline: null, thoughts: [], prose: '' } as const;
  const calls = [{ callId: 'a', ...call }];
  const text = shown({ role: 'assistant', text: 'the reply', parsed: { ...parsed, calls, thoughts: [] } });
  return text.trim().replace(/^call {2}/, '');
}

function shown(message: Message): string {
  let text = '';
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  printMessage(message);
  write.mockRestore();
  return text;
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

test('an image of a result is told by kind and size, below its text; what a history says of it cannot steer a terminal', () => {
  const image = {
    sha256: 'a'.repeat(64),
    mime: 'image/png',
    bytes: 12_345,
    width: 640,
    height: 480,
  } as const;
  const result = { role: 'tool', callId: 'c', tool: 'look', content: 'looked', isError: false } as const;
  expect(shown({ ...result, images: [image] })).toBe(
    '   result  looked\n           [image: png, 640x480, 12 kB]\n',
  );
  const forged = { ...image, mime: 'image/\u001b]0;x\u0007' as typeof image.mime };
  for (const control of ['\u001b', '\u0007'])
    expect(shown({ ...result, images: [forged] })).not.toContain(control);
});
