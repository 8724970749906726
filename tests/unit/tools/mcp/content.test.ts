import { contentText, resultValue } from '../../../../tools/mcp/content';

const base64 = (bytes: number): string => Buffer.alloc(bytes).toString('base64');

test.each([
  [{ type: 'text', text: 'a\nb' } as const, 'a\nb'],
  [{ type: 'image', mimeType: 'image/png', data: base64(1_000) } as const, '[image, image/png, 1000 bytes]'],
  [{ type: 'audio', mimeType: 'audio/wav', data: base64(1_001) } as const, '[audio, audio/wav, 1001 bytes]'],
  [
    { type: 'resource_link', name: 'log', uri: 'file:///log', mimeType: 'text/plain', size: 9 } as const,
    '[link to log at file:///log, text/plain, 9 bytes]',
  ],
  [
    { type: 'resource', resource: { uri: 'x://1', mimeType: 'text/plain', text: 'inside' } } as const,
    '[resource x://1, text/plain]\ninside',
  ],
  [{ type: 'resource', resource: { uri: 'x://2', blob: base64(2) } } as const, '[resource x://2, 2 bytes]'],
])('a part %j reads %j', (part, text) => {
  expect(contentText([part])).toBe(text);
});

test('scripts get the structured content if the tool declares it, else the text of all parts', () => {
  const content = [{ type: 'text', text: 'one' } as const, { type: 'text', text: 'two' } as const];
  const structuredContent = { n: 1 };
  expect(resultValue({ content, structuredContent }, true)).toEqual({ n: 1 });
  expect(resultValue({ content, structuredContent }, false)).toBe('one\ntwo');
  expect(resultValue({ content: [], structuredContent }, false)).toBe('{"n":1}');
  expect(resultValue({ content }, true)).toBeUndefined();
});
