import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatMessage } from '../../../models/provider';
import { createProviders } from '../../../models/providers';
import { loadReplies, scriptedProvider } from '../../../models/scripted';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-script-'));
  file = join(folder, 'replies.yaml');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const user = (text: string): ChatMessage => ({ role: 'user', text });
const assistant = (text: string): ChatMessage => ({ role: 'assistant', text });
const ask = (...messages: ChatMessage[]): Promise<{ text: string }> =>
  scriptedProvider(file).reply({ system: '', messages, signal: new AbortController().signal });

describe('the reply', () => {
  beforeEach(() =>
    writeFileSync(file, '- text: one\n- text: two\n  expect: "b.*c"\n- text: |\n    {"a": 1}\n    prose\n'),
  );

  test('is chosen by how many replies the conversation holds', async () => {
    expect(await ask(user('a'))).toEqual({ text: 'one' });
    expect(await ask(user('a'), assistant('one'), user('b and c'))).toEqual({ text: 'two' });
    expect(await ask(user('a'), assistant('one'), user('b'), assistant('two'), user('d'))).toEqual({
      text: '{"a": 1}\nprose\n',
    });
  });

  test('to a repeated call is the same', async () => {
    for (let i = 0; i < 3; i++) expect(await ask(user('a'))).toEqual({ text: 'one' });
  });

  test('is checked against the last message across several lines, tool results included', async () => {
    const result: ChatMessage = { role: 'tool', callId: 'call_1', tool: 'x', text: 'b\nc', isError: false };
    expect(await ask(user('a'), assistant('one'), result)).toEqual({ text: 'two' });
  });

  test('that does not match shows both sides and the place', async () => {
    await expect(ask(user('a'), assistant('one'), user('something else'))).rejects.toMatchObject({
      code: 'model_script_mismatch',
      facts: { index: 2, allowed: '/b.*c/ms', got: 'something else', file },
      message: expect.stringMatching(/reply 2 .*\/b\.\*c\/ms.*something else/) as string,
    });
  });

  test('that is missing says how many there are and what was asked last', async () => {
    const messages = [user('a'), assistant('1'), assistant('2'), assistant('3'), user('what now?')];
    await expect(ask(...messages)).rejects.toMatchObject({
      code: 'model_script_exhausted',
      facts: { got: 4, allowed: 3, last: 'what now?', file },
    });
  });

  test('to a long message shows its end', async () => {
    await expect(ask(assistant('1'), user(`${'x'.repeat(2_000)}END`))).rejects.toMatchObject({
      facts: { got: expect.stringMatching(/^…x{497}END$/) as string },
    });
  });
});

test('a reply may fail, with its reason', async () => {
  writeFileSync(file, '- fail: overloaded\n');
  await expect(ask(user('a'))).rejects.toMatchObject({
    code: 'model_failed',
    facts: { reason: 'overloaded' },
  });
});

test('a reply that takes its time ends early when nobody waits any more', async () => {
  writeFileSync(file, '- text: late\n  delayMs: 3600000\n');
  const abort = new AbortController();
  const reply = scriptedProvider(file).reply({ system: '', messages: [user('a')], signal: abort.signal });
  abort.abort();
  await expect(reply).rejects.toMatchObject({ name: 'AbortError' });
});

test('a reply of empty text is one', async () => {
  writeFileSync(file, '- text: ""\n');
  expect(await ask(user('a'))).toEqual({ text: '' });
});

test('a reply holds calls, usage and where it was cut off, as a provider would report it', async () => {
  writeFileSync(
    file,
    `- calls: [{ tool: input, args: { session: 1 } }, { id: mine, tool: x, args: '{"a": ' }]
  usage: { inputTokens: 10, outputTokens: 2 }
- text: and so
  cut: true
  usage: { inputTokens: 10, outputTokens: 2, cachedTokens: 5, costUsd: 0.25 }
`,
  );
  expect(await ask(user('a'))).toEqual({
    text: '',
    calls: [
      { id: 'reply_1_call_1', tool: 'input', args: '{"session":1}' },
      { id: 'mine', tool: 'x', args: '{"a": ' },
    ],
    usage: { inputTokens: 10, outputTokens: 2, cachedTokens: 0, costUsd: null },
  });
  expect(await ask(user('a'), assistant(''), user('b'))).toEqual({
    text: 'and so',
    isCut: true,
    usage: { inputTokens: 10, outputTokens: 2, cachedTokens: 5, costUsd: 0.25 },
  });
});

test('a reply is checked against the results of all calls, and by lines', async () => {
  writeFileSync(file, "- text: one\n- text: two\n  expect: '^first$.*^second$'\n");
  const results = ['first', 'second'].map((text): ChatMessage => ({
    role: 'tool',
    callId: text,
    tool: 'x',
    text,
    isError: false,
  }));
  expect(await ask(user('a'), assistant('one'), ...results)).toEqual({ text: 'two' });
});

describe('a faulty file', () => {
  test.each([
    ['no list', 'text: hello', ['the top must be a list']],
    ['nothing', '', ['the top must be a list']],
    ['an unknown key', '- text: a\n  txet: b', ['reply 1: an unknown key, allowed text']],
    ['text that is no text', '- text: 5', ['reply 1', '"text"']],
    ['neither text nor fail', '- expect: a', ['reply 1: needs "text", "calls" or "fail"']],
    ['a call without a tool', '- calls: [{ args: {} }]', ['reply 1', 'calls.0.tool']],
    ['usage without numbers', '- text: a\n  usage: {}', ['reply 1', 'usage.inputTokens']],
    ['a delay below zero', '- text: a\n  delayMs: -1', ['reply 1', '"delayMs"']],
    ['a delay above an hour', '- text: a\n  delayMs: 3600001', ['reply 1', '"delayMs"']],
    [
      'an expression that is none',
      '- text: a\n  expect: "("',
      ['reply 1: "expect" is not a regular expression: got a text'],
    ],
    ['a reply that is no object', '- hello', ['reply 1']],
    ['broken YAML', '- text: "a', ['line 1', 'missing char']],
    [
      'several faults at once',
      '- txet: a\n- text: a\n  expect: "["\n- text: 5\n- {}',
      ['reply 1', 'reply 2', 'reply 3', 'reply 4'],
    ],
  ])('with %s says every fault', async (_name, content, faults) => {
    writeFileSync(file, content);
    const error: unknown = await loadReplies(file).catch((err: unknown) => err);
    expect(error).toMatchObject({ code: 'model_script_invalid', facts: { file } });
    for (const fault of faults) expect((error as Error).message).toContain(fault);
  });

  test.each([
    ...['token: hunter2', 'hunter2', '- text: [hunter2]', '- text: a\n  expect: "(hunter2"'],
    ...[
      '- }hunter2',
      '- |hunter2',
      '- >hunter2',
      '- !hunter2!x y',
      '- *hunter2',
      '- &a [*a, hunter2',
      '%hunter2',
    ],
    ...['- hunter2: 1', '- text: a\n  usage: { hunter2: 1 }', '- &hunter2 &b x', 'a: 1\na: hunter2'],
  ])('says nothing of what is in it: %j', async (content) => {
    writeFileSync(file, content);
    await expect(loadReplies(file)).rejects.toMatchObject({
      code: 'model_script_invalid',
      message: expect.not.stringContaining('hunter2') as string,
    });
  });

  test('that is a pipe or a device is refused, and keeps no thread', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [pipe, pipe, pipe, pipe, '/dev/zero'])
      await expect(loadReplies(path)).rejects.toMatchObject({
        code: 'model_script_invalid',
        message: expect.stringContaining('it is not a regular file') as string,
      });
  });

  test('that does not exist is named', async () => {
    await expect(loadReplies(join(folder, 'none.yaml'))).rejects.toMatchObject({
      code: 'model_script_invalid',
      message: expect.stringContaining('none.yaml') as string,
    });
  });
});

describe('the name of a model', () => {
  const providerFor = createProviders();

  test('leads to its provider, colons in the rest included', async () => {
    const odd = join(folder, 'a:b.yaml');
    writeFileSync(odd, '- text: odd');
    const reply = await providerFor(`scripted:${odd}`).reply({
      system: '',
      messages: [user('a')],
      signal: new AbortController().signal,
    });
    expect(reply).toEqual({ text: 'odd' });
  });

  test.each(['', 'nobody:x', 'constructor:x', '__proto__:x', 'toString'])(
    '%j without a provider is refused with those there are',
    (name) => {
      expect(() => providerFor(name)).toThrow(
        expect.objectContaining({
          code: 'model_unknown',
          facts: { got: name, allowed: expect.stringMatching(/^scripted:NAME, openai:NAME, /) as string },
        }) as Error,
      );
    },
  );
});
