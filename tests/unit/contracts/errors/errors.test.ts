import {
  HoldfastError,
  isErrorCode,
  reasonOf,
  type ErrorCode,
  type ErrorFacts,
} from '../../../../contracts/errors/holdfast-error';
import { ERROR_FACTS } from '../../../helpers/docs/error-facts';

const codes = Object.keys(ERROR_FACTS) as ErrorCode[];

test.each(codes)('%s says what failed with its facts, and what to do next', (code) => {
  const error = HoldfastError.received(code, ERROR_FACTS[code]);
  expect(error.message).not.toMatch(/undefined|null|NaN|\[object/);
  expect(error.message).toMatch(/\S.* Next: \S/s);
  expect(error.message.endsWith(error.next)).toBe(true);
  for (const [name, value] of Object.entries(ERROR_FACTS[code])) {
    expect([name, error.message]).toEqual([name, expect.stringContaining(String(value))]);
  }
});

test.each(codes)('%s has an exit code of sysexits, which no command of a user is mistaken for', (code) => {
  const { exitCode } = HoldfastError.received(code, ERROR_FACTS[code]);
  expect(exitCode).toBeGreaterThanOrEqual(64);
  expect(exitCode).toBeLessThanOrEqual(78);
});

/** Also of codes whose facts decide. */
const SAID: [ErrorCode, ErrorFacts][] = [
  ...codes.map((code): [ErrorCode, ErrorFacts] => [code, ERROR_FACTS[code]]),
  ['host_offline', { host: 'pi', since: 'noon', reason: 'it is silent' }],
];

test.each(SAID)('%s says that nothing was done only if that is known (%j)', (code, facts) => {
  const { message, effect } = HoldfastError.received(code, facts);
  expect(['none', 'possible', 'happened']).toContain(effect);
  const denies = /\bnothing (?:of \w+ )?(?:is|was|has been|were) \w+|\b(?:is|was) not (?:typed|delivered)\b/i;
  if (effect !== 'none') expect(message).not.toMatch(denies);
});

test.each([
  // Raised after a command was handed over, a call was sent, or an update was accepted.
  ...(['session_lost', 'draining', 'no_worker', 'no_server', 'deadline', 'unknown_outcome'] as const),
  ...(['session_closed', 'agent_closed', 'mcp_server_lost', 'call_cancelled', 'internal'] as const),
])('%s promises nothing of the effect', (code) => {
  expect(HoldfastError.received(code, ERROR_FACTS[code]).effect).toBe('possible');
});

test.each(['result_undelivered', 'result_too_large', 'answer_forgotten', 'mcp_result_invalid'] as const)(
  '%s says that it was done',
  (code) => {
    const { effect, message } = HoldfastError.received(code, ERROR_FACTS[code]);
    expect([effect, message]).toEqual(['happened', expect.stringMatching(/ ran, but|has run|was accepted/)]);
  },
);

test.each(codes)('%s is plain JSON for programs', (code) => {
  const error = HoldfastError.received(code, ERROR_FACTS[code]);
  const { message, next, retryable, effect } = error;
  const facts = ERROR_FACTS[code];
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    code,
    message,
    next,
    retryable,
    effect,
    facts,
    docs: `docs/errors.md#${code}`,
  });
});

test.each([
  ['busy', true],
  ['draining', true],
  ['host_offline', true],
  ['no_worker', true],
  ['deadline', true],
  ['invalid_input', false],
  ['id_conflict', false],
  ['session_lost', false],
  ['unknown_outcome', false],
  ['input_too_long', false],
] as const)('whether %s may be sent again unchanged: %s', (code, retryable) => {
  expect(HoldfastError.received(code, ERROR_FACTS[code]).retryable).toBe(retryable);
});

test('a code is one of the catalogue, and nothing that objects bring along', () => {
  expect(codes.every(isErrorCode)).toBe(true);
  expect(
    ['toString', 'constructor', '__proto__', 'hasOwnProperty', '', 'nope', undefined, null, 1].some(
      isErrorCode,
    ),
  ).toBe(false);
});

test.each([
  [new Error('a'), 'a'],
  ['text', 'text'],
  [undefined, 'undefined'],
  [{ toString: (): string => 'own' }, 'own'],
])('the reason of a thrown value is its text', (thrown, reason) => {
  expect(reasonOf(thrown)).toBe(reason);
});

test('an optional fact that is missing leaves no trace', () => {
  expect(new HoldfastError('not_found', { what: 'A', got: 'b' }).message).toMatch(
    /^A does not exist: got b\. Next:/,
  );
  expect(new HoldfastError('not_found', { what: 'A', got: 'b', allowed: 'c', next: 'Do.' }).message).toBe(
    'A does not exist: got b, allowed c. Next: Do.',
  );
});

test('an error without a fact that its text shows does not compile', () => {
  // @ts-expect-error: `allowed` is missing. `npm run check` compiles this file.
  expect(new HoldfastError('unknown_tool', { got: 'grep' }).message).toContain('(no "allowed" given)');
  // @ts-expect-error: `got` may be undefined.
  new HoldfastError('id_conflict', { got: ([] as string[])[0] });
  expect(new HoldfastError('unknown_tool', { got: 'grep', allowed: 'shell' }).message).not.toContain(
    'undefined',
  );
});

/** In JavaScript, or from a process of another release. */
test.each(codes)('%s without its facts names those that are missing, and shows no undefined', (code) => {
  const { message } = HoldfastError.received(code);
  expect(message).not.toContain('undefined');
});

test('facts that are missing are named where they would be shown, optional ones are not', () => {
  expect(HoldfastError.received('invalid_input', { got: '5' }).message).toBe(
    '(no "what" given) is invalid: got 5, allowed (no "allowed" given). Next: Correct the value and send it again; ' +
      'nothing was started.',
  );
});

test('the texts of a fact that says undefined are its own', () => {
  const { message } = new HoldfastError('tool_failed', { tool: 'x', attempts: 1, reason: 'undefined' });
  expect(message).toContain('The tool x failed (attempts: 1): undefined');
});

describe('a HoldfastError that its author cannot make', () => {
  const Made = HoldfastError as unknown as new (...args: unknown[]) => HoldfastError;
  test.each<[unknown[], string]>([
    [['my_code'], 'got the code "my_code" with the facts {}, allowed a code of docs/errors.md'],
    [['my_code', { why: 'x' }], 'got the code "my_code" with the facts {"why":"x"}, allowed'],
    [['toString'], 'got the code "toString"'],
    [[], 'got the code nothing'],
    [['invalid_input', 'the date is wrong'], 'with the facts "the date is wrong", allowed'],
    [['invalid_input', null], 'with the facts null, allowed'],
  ])('%j says what was given, what is allowed and what to do', (args, said) => {
    const made = (): HoldfastError => new Made(...args);
    expect(made).toThrow(said);
    expect(made).toThrow('Next: Throw an Error with a text of your own, or');
    expect(made).not.toThrow(TypeError);
  });
});

test('an error that another release made, with a code that is not here, keeps what it said', () => {
  const err = HoldfastError.received('of_tomorrow' as ErrorCode, { got: 'x' });
  expect([err.code, err.message]).toEqual(['internal', expect.stringContaining('"of_tomorrow"')]);
  expect(err.message).toContain('{"got":"x"}');
});
