// How long the token of an answer that lasts is looked at.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { streamWhileAllowed, whileAllowed } from '../../../gateway/http/while-allowed';

const CALLER = { id: 't', name: 'n', role: 'viewer', agents: ['*'], expiresAt: null } as const;
let holds: boolean;
let gone: AbortController;
let asked: Parameters<typeof whileAllowed>[0];

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
  holds = true;
  gone = new AbortController();
  const context = {
    tokens: { callerWith: () => (holds ? CALLER : undefined) },
    ...{ oidc: null, over: new AbortController().signal },
  };
  const connection = { headers: { authorization: 'Bearer x' } };
  asked = { caller: CALLER, context, connection, signal: gone.signal } as unknown as typeof asked;
});
afterEach(() => jest.useRealTimers());

/** An answer whose parts and whose end the test gives. */
async function opened(): Promise<{ answer: Response; control: ReadableStreamDefaultController<Uint8Array> }> {
  let control: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (given) => void (control = given) });
  const answer = await streamWhileAllowed(asked, () => new Response(body, { status: 206 }));
  if (!control) throw new Error('The stream has not begun.');
  return { answer, control };
}

test.each<[string, (open: Awaited<ReturnType<typeof opened>>) => Promise<unknown>]>([
  ['has been read whole', ({ answer, control }) => (control.close(), answer.text())],
  [
    'has failed',
    ({ answer, control }) => (control.error(new Error('broke off')), answer.text().catch(() => undefined)),
  ],
  ['is cancelled, as that of HEAD is', async ({ answer }) => answer.body?.cancel()],
  ['has lost its client', async () => gone.abort()],
])('the token of a stream is not looked at once the stream %s', async (_how, end) => {
  const open = await opened();
  expect([open.answer.status, jest.getTimerCount()]).toEqual([206, 1]);
  await end(open);
  expect(jest.getTimerCount()).toBe(0);
});

test('an answer without a stream, or none at all, leaves nothing that looks at its token', async () => {
  await streamWhileAllowed(asked, () => new Response(null, { status: 204 }));
  const refused = new Error('refused');
  await expect(streamWhileAllowed(asked, () => Promise.reject(refused))).rejects.toBe(refused);
  await whileAllowed(asked, async () => undefined);
  expect(jest.getTimerCount()).toBe(0);
});

test('work learns that its token no longer holds, and why', async () => {
  const work = whileAllowed(
    asked,
    (refused) => new Promise((resolve) => refused.addEventListener('abort', () => resolve(refused.reason))),
  );
  holds = false;
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await work).toEqual(expect.any(HoldfastError));
  expect(await work).toMatchObject({ code: 'access_needed' });
  expect(jest.getTimerCount()).toBe(0);
});
