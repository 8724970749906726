// What a program waits for after its yield, while nothing polls: its session knows it all the same.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Attachment } from '../../../exec/attach/attachment';
import type { SessionHandle } from '../../../client/session-handle';
import type { SessionState } from '../../../contracts/sessions/session';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

jest.setTimeout(180_000);
const engine = new EngineOfItsOwn();
beforeAll(() => engine.start(), 60_000);
afterAll(async () => expect(await engine.end()).toEqual([]), 60_000);

const PATIENCE_MS = 90_000;
const SOON = { firstOutputMs: 50, betweenOutputMs: 50, maxMs: 50, promptMs: 50 };
const newSession = (): SessionHandle => engine.client.session({ agent: uniqueId('later'), session: 0 });
const state = (session: SessionHandle): Promise<SessionState> => session.state();
const untilWaiting = (session: SessionHandle, prompt: string): Promise<void> =>
  until(async () => {
    const { status, view } = await state(session);
    return status === 'waiting_input' && (view?.output.trimEnd().endsWith(prompt) ?? false);
  }, PATIENCE_MS);

/** As a person at the terminal does it: no workflow sees that. */
async function typeAt({ ref }: SessionHandle, text: string): Promise<void> {
  const typist = { who: 'ada', take: true };
  const attachment = await Attachment.open(engine.dataDir, ref, { typist, size: null });
  expect(await attachment.type(Buffer.from(text))).toBe(true);
  attachment.close();
}

async function yieldedSignals({ workflowId }: SessionHandle): Promise<number> {
  const { events } = await engine.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).filter(
    ({ workflowExecutionSignaledEventAttributes: told }) => told?.signalName === 'yielded',
  ).length;
}

test('a prompt long after the yield is known, so are the next one and that nothing waits any more, over a killed worker', async () => {
  const session = newSession();
  const code = 'until [ -e go ]; do sleep 0.1; done; rm go; read -p "Go? " x; read -p "Sure? " y; sleep 600';
  const { state: answered } = await session.exec({ code, yield: SOON });
  expect(answered).toBe('running');
  await engine.client.session({ ...session.ref, session: 1 }).exec({ code: 'touch go' });
  await untilWaiting(session, 'Go?');
  await typeAt(session, 'yes\r');
  await untilWaiting(session, 'Sure?');
  await engine.killWorker();
  await typeAt(session, 'yes\r');
  await engine.startWorker();
  await until(async () => (await state(session)).status === 'running', PATIENCE_MS);
  // Each once: the yield, two waits, and that nothing waits, as the next worker finds it.
  expect(await yieldedSignals(session)).toBe(4);
  await session.reset({ reason: 'seen' });
});

/** A session whose program has asked, which it knows, while nothing polls. */
async function askedLater(session = newSession()): Promise<SessionHandle> {
  const go = uniqueId('go');
  const code = `until [ -e ${go} ]; do sleep 0.1; done; read -p "Go? " x; sleep 600`;
  expect((await session.exec({ code, yield: SOON })).state).toBe('running');
  await engine.client.session({ ...session.ref, session: 1 }).exec({ code: `touch ${go}` });
  return session;
}

test('that a program no longer waits is known though the worker died when it had told of the wait', async () => {
  const session = newSession();
  const type = (): Promise<void> => typeAt(session, 'yes\r');
  await engine.crashingAt('wait-told', () => askedLater(session), type);
  await until(async () => (await state(session)).status === 'running', PATIENCE_MS);
  await session.reset({ reason: 'seen' });
});

test('the same if the command is handed over again, to a worker that knows nothing of it', async () => {
  const session = await askedLater();
  await untilWaiting(session, 'Go?');
  await engine.killWorker();
  await typeAt(session, 'yes\r');
  // As a worker leaves it that finds the token of before to be no longer known.
  rmSync(join(engine.dataDir, 'commands'), { recursive: true });
  const handle = engine.client.temporal.workflow.getHandle(session.workflowId);
  await until(
    async () =>
      ((await handle.fetchHistory()).events ?? []).some((event) => event.activityTaskTimedOutEventAttributes),
    PATIENCE_MS,
  );
  await engine.startWorker();
  await until(async () => (await state(session)).status === 'running', PATIENCE_MS);
  await session.reset({ reason: 'seen' });
});

test('what is answered through the session is not told it again', async () => {
  const session = newSession();
  // It yields at the first question: with less time a busy machine would ask only after the yield.
  await session.exec({ code: 'for n in 1 2 3 4 5; do read -p "$n? " x; done' });
  for (let n = 1; n <= 5; n++) await session.input({ keyboard: 'x' });
  await session.output({ wait: 'exit' });
  expect(await yieldedSignals(session)).toBe(1);
});
