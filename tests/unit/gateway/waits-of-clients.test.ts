// How long waits of clients take places of a host, and how many.
import type { WaitRequest } from '../../../contracts/schemas/session';
import type { WaitReason, WaitResult } from '../../../contracts/sessions/session';
import { SESSION_ROUTES } from '../../../gateway/routes/session-routes';
import type { Route } from '../../../gateway/http/route';
import { Waits } from '../../../gateway/waits-of-clients';

const MINUTE_MS = 60_000;
const ref = { agent: 'a', host: 'local', session: 0 };

interface Slice extends WaitRequest {
  id: string | undefined;
  end: (...reasons: WaitReason[]) => void;
}

let slices: Slice[];
let waits: Waits;
let isValid: boolean;
beforeEach(() => {
  jest.useFakeTimers();
  [slices, waits, isValid] = [[], new Waits(), true];
});
afterEach(() => jest.useRealTimers());

/** Each ends when the test says so; what it waited for has printed 100 bytes for each slice. */
const wait = (request: WaitRequest, id?: string): Promise<WaitResult> =>
  new Promise((resolve) => {
    const end = (...reasons: WaitReason[]): void =>
      resolve({
        met: !reasons.includes('timeout'),
        sessions: reasons.map((reason) => ({ reason, view: { to: slices.length * 100 } as never })),
      });
    slices.push({ ...request, id, end });
  });

function ask(
  body: WaitRequest,
  { key, caller = 't' }: { key?: string; caller?: string } = {},
): { answer: Promise<unknown>; leave: () => void } {
  const route = SESSION_ROUTES.find(({ name }) => name === 'waitForSessions') as unknown as Route;
  const client = new AbortController();
  const held = { id: caller, expiresAt: null };
  const context = {
    ...{ waits, oidc: null, tokens: { callerWith: () => (isValid ? held : undefined) } },
    client: { session: () => ({ ref, workflowId: 'session/a/local/0', wait }) },
  };
  const connection = { headers: { authorization: 'Bearer x' } };
  const asked = { ...{ params: ref, body, key, context, connection }, caller: held, signal: client.signal };
  const answer = route.run(asked as never);
  answer.catch(() => undefined);
  return { answer, leave: () => client.abort() };
}

const ended = async (...reasons: WaitReason[]): Promise<void> => {
  slices.at(-1)?.end(...reasons);
  await jest.advanceTimersByTimeAsync(0);
};

test('a wait that its client has left ends with its slice of at most five minutes', async () => {
  const { answer, leave } = ask({ waitMs: 60 * MINUTE_MS });
  expect(slices[0]?.waitMs).toBe(5 * MINUTE_MS);
  await ended('timeout');
  expect(slices).toHaveLength(2);
  leave();
  await ended('timeout');
  await answer;
  expect(slices).toHaveLength(2);
});

test('a wait whose token no longer holds ends with its slice', async () => {
  const { answer } = ask({ waitMs: 60 * MINUTE_MS });
  isValid = false;
  await jest.advanceTimersByTimeAsync(1_000);
  await ended('timeout');
  await expect(answer).rejects.toMatchObject({ code: 'access_needed' });
  expect(slices).toHaveLength(1);
});

test('the end of a slice is no answer before the time that was asked for, and then it is one', async () => {
  const { answer } = ask({ waitMs: 12 * MINUTE_MS }, { key: 'k' });
  for (let n = 0; n < 3; n++) await ended('timeout');
  expect(await answer).toMatchObject({ met: false, sessions: [{ reason: 'timeout' }] });
  const asked = slices.map(({ id, waitMs = 0 }) => [id, waitMs / MINUTE_MS]);
  // With a key, each slice of the same wait has the same id again.
  expect(asked).toEqual([
    ['k', 5],
    ['k/slice-2', 5],
    ['k/slice-3', 2],
  ]);
});

test('what came in one slice is not waited for in the next, and what is printed between two is not missed', async () => {
  const sessions = [1, { session: 2, from: 7 }, 3];
  const { answer } = ask({ sessions, for: 'output', waitMs: 12 * MINUTE_MS });
  await ended('timeout', 'timeout', 'output');
  await ended('output', 'timeout');
  await ended('exit');
  expect(slices.map((slice) => slice.sessions)).toEqual([
    [{ session: 1 }, { session: 2, from: 7 }, { session: 3 }],
    [
      { session: 1, from: 100 },
      { session: 2, from: 7 },
    ],
    [{ session: 2, from: 7 }],
  ]);
  const reasons = ((await answer) as WaitResult).sessions.map(({ reason }) => reason);
  expect(reasons).toEqual(['output', 'exit', 'output']);
});

test('a token has at most twenty waits under way, those of clients that have left among them', async () => {
  const asked = Array.from({ length: 20 }, (_, n) => ask({ waitMs: MINUTE_MS }, { key: `k${n}` }));
  for (const { leave } of asked) leave();
  const refusal = { code: 'resources_exhausted', effect: 'none', retryable: true };
  await expect(ask({ waitMs: MINUTE_MS }).answer).rejects.toMatchObject(refusal);
  expect(slices).toHaveLength(20);
  // The same again is the same wait, and others have places of their own.
  ask({ waitMs: MINUTE_MS }, { key: 'k19' });
  ask({ waitMs: MINUTE_MS }, { caller: 'other' });
  expect(slices).toHaveLength(22);
  slices[0]?.end('exit');
  await asked[0]?.answer;
  ask({ waitMs: MINUTE_MS });
  expect(slices).toHaveLength(23);
});
