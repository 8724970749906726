// Images on the wire, byte by byte, as each provider's API takes them.
import type { ChatMessage, ModelRequest } from '../../../models/provider';
import type { ImageRef } from '../../../contracts/tools/images';
import { imageFacts } from '../../../contracts/tools/image-header';
import { GIF, png } from '../../helpers/tools/images';
import { ask, ModelSimulator } from '../../helpers/services/model-simulator';

let simulator: ModelSimulator;
beforeAll(async () => {
  simulator = await ModelSimulator.start();
  simulator.mock.onMessage(/.*/, { content: 'I see.' });
});
afterAll(() => simulator.stop());

const refOf = (data: Buffer, sha256: string): ImageRef => ({ sha256, ...imageFacts(data), at: 'host.local' });
const shot = png(2, 2);
const SHOT = refOf(shot, 'a'.repeat(64));
const ICON = refOf(GIF, 'b'.repeat(64));
const images = new Map([
  [SHOT.sha256, shot.toString('base64')],
  [ICON.sha256, GIF.toString('base64')],
]);

const calls = [
  { id: 'call_a', tool: 'view_image', args: '{"path":"shot.png"}' },
  { id: 'call_b', tool: 'look', args: '{}' },
];
const result = { role: 'tool', isError: false } as const;
const MESSAGES: ChatMessage[] = [
  { role: 'user', text: 'what is there?' },
  { role: 'assistant', text: '', calls },
  { ...result, callId: 'call_a', tool: 'view_image', text: 'The image shot.png.', images: [SHOT, ICON] },
  { ...result, callId: 'call_b', tool: 'look', text: 'nothing' },
  { role: 'user', text: 'Result of view_image:\nan icon', images: [ICON] },
];

async function sent(
  wireApi: 'anthropic' | 'chat' | 'responses',
  request: Partial<ModelRequest>,
): Promise<unknown> {
  await simulator.provider(wireApi).reply(ask('', { messages: MESSAGES, ...request }));
  const { messages, input } = simulator.lastBody;
  return messages ?? input;
}

const PNG_URL = `data:image/png;base64,${shot.toString('base64')}`;
const GIF_URL = `data:image/gif;base64,${GIF.toString('base64')}`;
const anthropic = (type: string, data: Buffer): object => ({
  type: 'image',
  source: { type: 'base64', media_type: type, data: data.toString('base64') },
});
const ANTHROPIC_PNG = anthropic('image/png', shot);
const ANTHROPIC_GIF = anthropic('image/gif', GIF);

test('over Anthropic’s messages images are blocks of their result', async () => {
  const CACHED = { cache_control: { type: 'ephemeral' } };
  const text = { type: 'text', text: 'The image shot.png.' };
  expect(await sent('anthropic', { images })).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'what is there?', ...CACHED }] },
    {
      role: 'assistant',
      content: [expect.objectContaining({ id: 'call_a' }), expect.objectContaining({ id: 'call_b' })],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_a', content: [text, ANTHROPIC_PNG, ANTHROPIC_GIF] },
        { type: 'tool_result', tool_use_id: 'call_b', content: 'nothing' },
        { type: 'text', text: 'Result of view_image:\nan icon' },
        { ...ANTHROPIC_GIF, ...CACHED },
      ],
    },
  ]);
});

test('over OpenAI’s chat images come in one message after the results, which names their calls', async () => {
  const image = (url: string): object => ({ type: 'image_url', image_url: { url } });
  const system = { role: 'system', content: 'You are a test.' };
  expect(await sent('chat', { images })).toEqual([
    system,
    { role: 'user', content: 'what is there?' },
    expect.objectContaining({ role: 'assistant' }),
    { role: 'tool', tool_call_id: 'call_a', content: 'The image shot.png.' },
    { role: 'tool', tool_call_id: 'call_b', content: 'nothing' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What the call call_a of view_image shows:' },
        image(PNG_URL),
        image(GIF_URL),
      ],
    },
    {
      role: 'user',
      content: [{ type: 'text', text: 'Result of view_image:\nan icon' }, image(GIF_URL)],
    },
  ]);
});

test('over OpenAI’s responses images are parts of their call’s output', async () => {
  const image = (url: string): object => ({ type: 'input_image', image_url: url, detail: 'auto' });
  const text = (said: string): object => ({ type: 'input_text', text: said });
  expect(await sent('responses', { images })).toEqual([
    { role: 'user', content: 'what is there?' },
    expect.objectContaining({ type: 'function_call', call_id: 'call_a' }),
    expect.objectContaining({ type: 'function_call', call_id: 'call_b' }),
    {
      type: 'function_call_output',
      call_id: 'call_a',
      output: [text('The image shot.png.'), image(PNG_URL), image(GIF_URL)],
    },
    { type: 'function_call_output', call_id: 'call_b', output: 'nothing' },
    { role: 'user', content: [text('Result of view_image:\nan icon'), image(GIF_URL)] },
  ]);
});

test.each(['anthropic', 'chat', 'responses'] as const)(
  'over %s a conversation without its images is sent as text alone',
  async (wireApi) => {
    const body = JSON.stringify(await sent(wireApi, {}));
    expect(body).toContain('The image shot.png.');
    expect(body).not.toMatch(/base64|image_url|input_image/);
  },
);
