// Keys that wait for a connection: in which order and how much at once they go, and when none of them may.
import { WaitingKeys } from '../../../console/terminal/waiting-keys';
import { fromClientSchema } from '../../../contracts/schemas/from-client';

const COMMAND = 'command-1';

function typed(...texts: string[]): WaitingKeys {
  const keys = new WaitingKeys();
  for (const text of texts) keys.add(text, COMMAND);
  return keys;
}

afterEach(() => jest.restoreAllMocks());

/** What a gateway gets that answers each input. */
function sentBy(keys: WaitingKeys): { text: string; atOnce: number[] } {
  const parts: Buffer[] = [];
  const atOnce: number[] = [];
  for (let inputs = keys.next(); inputs.length > 0; inputs = keys.next()) {
    atOnce.push(inputs.length);
    for (const input of inputs) {
      expect(fromClientSchema.safeParse(input).success).toBe(true);
      expect(input.command).toBe(COMMAND);
      parts.push(Buffer.from(input.data, 'base64'));
      expect(keys.answered(input.id)).toBe(true);
    }
  }
  return { text: Buffer.concat(parts).toString('utf8'), atOnce };
}

test('keys go out in their order, all at once; a paste in parts that a gateway takes, each after the answer to the last', () => {
  expect(sentBy(typed('l', 's', '\r'))).toEqual({ text: 'ls\r', atOnce: [3] });
  const paste = 'ä€😀x'.repeat(100_000);
  const { text, atOnce } = sentBy(typed(paste));
  expect(text === paste).toBe(true);
  expect(atOnce).toEqual(Array.from({ length: 21 }, () => 1));
});

test('what was not answered is sent again under its id, and nothing twice over one connection', () => {
  const keys = typed('a', 'b');
  const first = keys.next();
  expect(keys.next()).toEqual([]);
  keys.answered(first[0]?.id ?? '');
  keys.sendAgain();
  expect(keys.next()).toEqual([first[1]]);
});

test.each([
  ['the program that they are for still runs', COMMAND, 9_000, null],
  ['another one runs', 'command-2', 0, 'other program'],
  ['nothing runs', null, 0, 'other program'],
  ['the first of them is old', COMMAND, 11_000, 'late'],
] as const)('when %s, keys may go: %s, after %i ms: %s', (_name, running, later, doubt) => {
  const begun = Date.now();
  const clock = jest.spyOn(Date, 'now').mockReturnValue(begun);
  const keys = typed('rm ');
  clock.mockReturnValue(begun + later);
  keys.add('x\r', COMMAND);
  expect(keys.doubt(running)).toBe(doubt);
  expect(keys.drop()).toBe(true);
  expect(keys.doubt('command-2')).toBeNull();
  expect(keys.next()).toEqual([]);
});
