import { imageFacts } from '../../../../contracts/tools/image-header';
import { contentText, resultValue } from '../../../../tools/mcp/content';
import { png } from '../../../helpers/tools/images';

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

describe('for a model', () => {
  const SHOT = png(3, 4);
  const data = SHOT.toString('base64');
  let shown: Buffer[];
  beforeEach(() => (shown = []));
  const addImage = (image: Uint8Array): ReturnType<typeof imageFacts> => {
    const facts = imageFacts(image);
    shown.push(Buffer.from(image));
    return facts;
  };

  test('images and embedded resources that are images are shown, in the order of the text', () => {
    const resource = { uri: 'x://plot', mimeType: 'image/png', blob: data };
    const content = [
      { type: 'text', text: 'before' } as const,
      { type: 'image', mimeType: 'image/png', data } as const,
      { type: 'resource', resource } as const,
    ];
    expect(contentText(content, addImage)).toBe('before\n[image 1]\n[image 2]');
    expect(shown.map((image) => image.equals(SHOT))).toEqual([true, true]);
  });

  test('what is called an image and is none is described, with the reason', () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
    const text = contentText([{ type: 'image', mimeType: 'image/png', data: svg }], addImage);
    expect(text).toMatch(
      /^\[image, image\/png, 41 bytes, not shown: got an image, which is none of these .*\]$/,
    );
    expect(shown).toEqual([]);
  });

  test('the kind that the server claims does not matter', () => {
    expect(contentText([{ type: 'image', mimeType: 'image/svg+xml', data }], addImage)).toBe('[image 1]');
  });
});
