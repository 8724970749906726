import { imageFacts } from '../../../../contracts/tools/image-header';
import { contentText, structuredValue, wholeText } from '../../../../tools/mcp/content';
import { readResult, type Part } from '../../../../tools/mcp/reader/read-result';
import { png } from '../../../helpers/tools/images';

const partsOf = (...content: unknown[]): Part[] => readResult({ content }).parts;
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
  expect(contentText(partsOf(part))).toBe(text);
});

test('the text of a result is that of all its parts, and its structured content unless a part is the same', () => {
  const content = [
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two' },
  ];
  const structuredContent = { n: 1 };
  expect(wholeText(readResult({ content }))).toBe('one\ntwo');
  // MoonshotAI/kimi-code#2554: a summary as text, and what it sums up as structured content.
  expect(wholeText(readResult({ content, structuredContent }))).toBe('one\ntwo\n{"n":1}');
  expect(wholeText(readResult({ content: [], structuredContent }))).toBe('{"n":1}');
  const same = [{ type: 'text', text: '{ "n": 1 }' }];
  expect(wholeText(readResult({ content: same, structuredContent }))).toBe('{ "n": 1 }');
});

test('the object of a result is its structured content, else its only text if that is one', () => {
  const text = (said: string): object => ({ content: [{ type: 'text', text: said }] });
  expect(structuredValue(readResult({ ...text('one'), structuredContent: { n: 1 } }))).toEqual({ n: 1 });
  expect(structuredValue(readResult({ structuredContent: [] }))).toEqual({});
  expect(structuredValue(readResult(text('{"n":1}')))).toEqual({ n: 1 });
  expect(structuredValue(readResult(text('done')))).toBeUndefined();
  expect(structuredValue(readResult(text('[1]')))).toBeUndefined();
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
    expect(contentText(partsOf(...content), addImage)).toBe('before\n[image 1]\n[image 2]');
    expect(shown.map((image) => image.equals(SHOT))).toEqual([true, true]);
  });

  test('what is called an image and is none is described, with the reason', () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
    const text = contentText(partsOf({ type: 'image', mimeType: 'image/png', data: svg }), addImage);
    expect(text).toMatch(
      /^\[image, image\/png, 41 bytes, not shown: got an image, which is none of these .*\]$/,
    );
    expect(shown).toEqual([]);
  });

  test('the kind that the server claims does not matter', () => {
    expect(contentText(partsOf({ type: 'image', mimeType: 'image/svg+xml', data }), addImage)).toBe(
      '[image 1]',
    );
    const url = `data:image/png;base64,${data}`;
    expect(contentText(partsOf({ type: 'image', data: url }), addImage)).toBe('[image 1]');
  });
});
