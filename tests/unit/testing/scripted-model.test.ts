import { scriptedModel } from '../../../testing';

const refused = (replies: unknown): unknown => {
  try {
    return scriptedModel(replies as never);
  } catch (err) {
    return err;
  }
};

test.each([
  [[{ text: 5 }], 'got reply 1: "text" must be of type string, got 5'],
  [['a', 5], 'got reply 2: it must be of type object, got 5'],
  [[{ txet: 'a' }], 'got reply 1: unknown txet, allowed text, calls, usage'],
  [[{ calls: [{ tool: '', args: {} }] }], 'got reply 1: "calls.0.tool" must not be empty, got \'\''],
  [[{ calls: [{ tool: 'x', args: 5 }] }], '"calls.0.args" must be an object or a text, got 5'],
  [[{ text: 'a', delayMs: -1 }], '"delayMs" must be at least 0, got -1'],
  [[{ text: 'a', usage: { inputTokens: 1 } }], '"usage.outputTokens" must be of type number, got undefined'],
  [[{ text: 'a', usage: { inputTokens: 1, outputTokens: 1, x: 1 } }], 'unknown x in "usage"'],
  [undefined, 'got undefined, allowed a list of replies'],
  ['x', "got 'x', allowed a list of replies"],
])(
  'the replies %j are refused with what was given and what is allowed, and no file is spoken of',
  (replies, text) => {
    const err = refused(replies) as Error;
    expect(err).toMatchObject({ code: 'invalid_input' });
    expect(err.message).toContain('What scriptedModel() takes is invalid: got');
    expect(err.message).toContain(text);
    expect(err.message).not.toMatch(/file/);
  },
);
