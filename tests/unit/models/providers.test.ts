import { createProviders } from '../../../models/providers';
import type { ModelProvider } from '../../../models/provider';

const echo = (name: string): ModelProvider => ({ reply: async () => ({ text: name }) });
const request = { system: '', messages: [], signal: new AbortController().signal };

test('an own provider gets the rest of the model’s name, colons included', async () => {
  const provider = createProviders({ mine: echo })('mine:a:b');
  expect(await provider.reply(request)).toEqual({ text: 'a:b' });
});

test('an unknown name is refused with all known ones, including your own', () => {
  expect(() => createProviders({ mine: echo })('other:x')).toThrow(
    'allowed scripted:NAME, openai:NAME, openai-chat:NAME, anthropic:NAME, mine:NAME',
  );
});

test('a provider without the name of a model is refused', () => {
  expect(() => createProviders()('openai:')).toThrow('got openai:, allowed openai:NAME');
});

test('a name that a built-in provider has, or that no agent could ask for, is refused with every fault', () => {
  expect(() => createProviders({ scripted: echo, 'My Own': echo })).toThrow(
    /scripted: the name is taken.*"My Own": allowed a-z/,
  );
});

test('a misspelt provider is guessed, and a name that is like none is not', () => {
  const messageOf = (model: string): string => {
    try {
      createProviders()(model);
    } catch (err) {
      return (err as Error).message;
    }
    return '';
  };
  expect(messageOf('opnai:gpt')).toContain('got opnai:gpt (did you mean openai:gpt?), allowed');
  expect(messageOf('oracle:delphi')).toMatch(/got oracle:delphi, allowed/);
});

test.each([null, 'x', { reply: 5 }])('what is not a function that gives a provider is refused: %j', (own) => {
  expect(() => createProviders({ mine: own as unknown as typeof echo })).toThrow(
    `model provider mine: got ${JSON.stringify(own)}, allowed a function`,
  );
});

test.each<[string, unknown, string]>([
  ['nothing', undefined, 'nothing'],
  ['no reply', { check: 1 }, '{"check":1}'],
  ['a promise', Promise.resolve(echo('x')), 'a promise'],
])('a function that gives %s instead of a provider fails the call for good', (_what, given, got) => {
  const find = createProviders({ mine: () => given as ModelProvider });
  expect(() => find('mine:x')).toThrow(
    expect.objectContaining({
      code: 'config_invalid',
      message: expect.stringContaining(
        `model mine:x: its provider's function gave ${got}, allowed`,
      ) as string,
    }) as Error,
  );
});
