// D7: many inputs (20,000 in the long run) to one session: its history restarts repeatedly, and each is typed once.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineOfItsOwn } from '../helpers/engines/engine-of-its-own';
import { count } from '../helpers/run/long-run';
import { until } from '../helpers/until';

const INPUTS = count(280, 20_000);
/** Sent at once, the next when these are typed. */
const BURST = count(40, 200);
/** Events at which a session continues as new. */
const LONG_HISTORY = count(400, 2_000);
/** Sent while no worker lives: more than a workflow may have of open activities. */
const WITHOUT_A_WORKER = count(210, 2_500);

const engine = new EngineOfItsOwn();
let cwd: string;
beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'holdfast-inputs-'));
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  rmSync(cwd, { recursive: true, force: true });
  expect(left).toEqual([]);
}, 60_000);

const typed = (file = 'inputs'): number[] =>
  existsSync(join(cwd, file))
    ? readFileSync(join(cwd, file), 'utf8').split('\n').slice(0, -1).map(Number)
    : [];

/** As a sender does that wants an order: each when the one before has been taken. */
async function inOrder<T>(values: T[], send: (value: T) => Promise<unknown>): Promise<void> {
  for (const value of values) await send(value);
}

test('many signalled inputs continue a session as new, none lost or repeated', async () => {
  const session = engine.client.session({ agent: 'many', session: 0 }, { cwd });
  const code = 'while IFS= read -r x && [ "$x" != end ]; do echo "$x" >> inputs; done; (exit 3)';
  await session.exec({ code, yield: { maxMs: 500, promptMs: 100 } });
  const handle = engine.client.temporal.workflow.getHandle(session.workflowId);
  const runs = new Set<string>();
  let sent = 0;
  // How many events they make depends on how many are typed by one activity.
  while (sent < INPUTS || runs.size < 2) {
    const burst = Array.from({ length: BURST }, (_, i) => String(sent + i));
    await Promise.all(burst.map((keyboard) => handle.signal('input', { keyboard, id: keyboard })));
    sent += BURST;
    await until(() => typed().length >= sent, 60_000);
    // A stream without any gap puts the new beginning off: this sender leaves one when it is due.
    await until(async () => {
      const { runId, historyLength } = await handle.describe();
      runs.add(runId);
      return historyLength < LONG_HISTORY;
    });
  }
  // The last ids again: they stay known across every restart.
  await Promise.all(
    [sent - BURST, sent - BURST / 2, sent - 1]
      .map(String)
      .map((id) => handle.signal('input', { keyboard: id, id })),
  );
  expect(await session.input({ keyboard: 'end' })).toMatchObject({ state: 'exited', exitCode: 3 });
  expect(typed().sort((a, b) => a - b)).toEqual(Array.from({ length: sent }, (_, i) => i));
}, 300_000);

test('inputs signalled while no worker lived are typed by the next, each once and in order', async () => {
  const session = engine.client.session({ agent: 'many', session: 1 }, { cwd });
  const code = 'while IFS= read -r x && [ "$x" != end ]; do echo "$x" >> late; done; (exit 4)';
  await session.exec({ code, yield: { maxMs: 500, promptMs: 100 } });
  const handle = engine.client.temporal.workflow.getHandle(session.workflowId);
  await engine.killWorker();
  const all = Array.from({ length: WITHOUT_A_WORKER }, (_, i) => String(i));
  await inOrder(all, (keyboard) => handle.signal('input', { keyboard }));
  await engine.startWorker();
  await until(() => typed('late').length === WITHOUT_A_WORKER, 60_000);
  expect(await session.input({ keyboard: 'end' })).toMatchObject({ state: 'exited', exitCode: 4 });
  expect(typed('late')).toEqual(all.map(Number));
}, 120_000);
