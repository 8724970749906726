import { printMessage } from '../../../cli/print/print-message';

test('text typed into a program is not shown, only its length', () => {
  let text = '';
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  const call = { callId: 'a', tool: 'input', args: { session: 2, keyboard: 'correct-horse', keys: ['tab'] } };
  const parsed = { kind: 'calls', calls: [call], headline: null, thoughts: [], prose: '' } as const;
  printMessage({ role: 'assistant', text: 'the reply', parsed: { ...parsed, calls: [call], thoughts: [] } });
  write.mockRestore();
  expect(text).toContain('input session 2');
  expect(text).toContain('(13 characters)');
  expect(text).not.toContain('correct-horse');
});
