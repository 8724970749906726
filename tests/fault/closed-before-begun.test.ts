// A command that was accepted, and whose session was closed or reset before the command had begun.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionHandle } from '../../client/session-handle';
import { EngineOfItsOwn } from '../helpers/engines/engine-of-its-own';
import { until } from '../helpers/until';
import { processesMarked } from '../integration/exec/session-processes';

const engine = new EngineOfItsOwn();
/** Working folder of the shells, which also identifies their processes. */
const cwd = mkdtempSync(join(tmpdir(), 'holdfast-closed-'));
/** Elsewhere, as the worker's command line names it. */
const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
const at = (name: string): string => join(cwd, name);
let sessions = 0;
let session: SessionHandle;

/** The program of secrets holds a command up on its way to the shell. */
const HOLDS_UP = `touch ${at('asked')}; until [ -e ${at('go-on')} ]; do sleep 0.02; done; echo swordfish`;

beforeAll(async () => {
  const config = join(folder, 'holdfast.toml');
  writeFileSync(config, `[secrets]\ncommand = ["/bin/sh", "-c", ${JSON.stringify(HOLDS_UP)}, "{name}"]\n`);
  await engine.start({ config });
}, 60_000);
afterAll(async () => {
  expect(await engine.end()).toEqual([]);
  for (const one of [cwd, folder]) rmSync(one, { recursive: true, force: true });
}, 60_000);
beforeEach(() => {
  for (const name of ['asked', 'go-on']) rmSync(at(name), { force: true });
  session = engine.client.session({ agent: 'closed', session: sessions++ }, { cwd });
});
afterEach(async () => {
  expect(await session.state()).toMatchObject({ status: 'closed' });
  expect(processesMarked(cwd)).toEqual([]);
  expect(existsSync(at('effect'))).toBe(false);
});

const NOT_BEGUN = { code: 'not_begun', message: expect.stringContaining('no longer wanted') as string };

test('a command that is on its way while its session closes never begins, and its caller is told', async () => {
  const refused = expect(session.exec({ code: 'touch effect # {{secret:SLOW}}' })).rejects.toMatchObject(
    NOT_BEGUN,
  );
  await until(() => existsSync(at('asked')));
  await session.close('no longer wanted');
  await until(async () => (await closesOf(session)) === 1);
  writeFileSync(at('go-on'), '');
  await refused;
  await session.closed();
});

test('a command that a killed worker had received and not begun does not begin after its session was closed', async () => {
  await expect(
    engine.crashingAt(
      'command-arrived',
      () => session.exec({ code: 'touch effect' }),
      () => session.close('no longer wanted'),
    ),
  ).rejects.toMatchObject(NOT_BEGUN);
  await session.closed();
});

describe('a command that is on its way', () => {
  /** What takes its place is ended with the session. */
  const closed = async (): Promise<void> => {
    await session.close('no longer wanted');
    await session.closed();
  };

  test.each<[string, () => Promise<unknown>]>([
    ['its session is reset', () => session.reset({ reason: 'no longer wanted' })],
    ['another command takes its place', () => session.exec({ code: 'true', reset: true })],
  ])('while %s never begins, and its caller is told', async (_what, end) => {
    const refused = expect(session.exec({ code: 'touch effect # {{secret:SLOW}}' })).rejects.toMatchObject({
      code: 'not_begun',
    });
    await until(() => existsSync(at('asked')));
    await end();
    writeFileSync(at('go-on'), '');
    await refused;
    expect(await session.exec({ code: 'echo next' })).toMatchObject({ output: 'next\n', exitCode: 0 });
    await closed();
  });

  test('to a worker that is killed does not begin in the next one after its session was reset', async () => {
    const { workflow } = engine.client.temporal;
    await expect(
      engine.crashingAt(
        'command-arrived',
        () => session.exec({ code: 'touch effect' }),
        () => workflow.getHandle(session.workflowId).signal('reset', { reason: 'no longer wanted' }),
      ),
    ).rejects.toMatchObject(NOT_BEGUN);
    expect(await session.exec({ code: 'echo next' })).toMatchObject({ output: 'next\n', exitCode: 0 });
    await closed();
  });
});

/** How many of its closes the host has carried out. */
async function closesOf({ workflowId }: SessionHandle): Promise<number> {
  const { events = [] } = await engine.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  const closes = (events ?? []).filter(
    ({ activityTaskScheduledEventAttributes: asked }) => asked?.activityType?.name === 'closeSession',
  );
  return (events ?? []).filter(({ activityTaskCompletedEventAttributes: done }) =>
    closes.some(({ eventId }) => done?.scheduledEventId?.eq(eventId ?? 0)),
  ).length;
}
