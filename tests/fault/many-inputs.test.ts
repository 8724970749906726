// D7: inputs by the thousand to one session: its history begins anew again and again, and each is typed once.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineOfItsOwn } from '../helpers/engine-of-its-own';
import { until } from '../helpers/until';

/** Of 20,000 each is an activity: 60 a second on two busy cores. Each 400 or so begin the history anew. */
const INPUTS = 1_000;
/** Sent at once, the next when these are typed. */
const BURST = 100;

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

const typed = (): number[] =>
  existsSync(join(cwd, 'inputs'))
    ? readFileSync(join(cwd, 'inputs'), 'utf8').split('\n').slice(0, -1).map(Number)
    : [];

test('1,000 signalled inputs (20,000 take minutes) continue a session as new, none lost or repeated', async () => {
  const session = engine.client.session({ agent: 'many', session: 0 }, { cwd });
  const code = 'while IFS= read -r x && [ "$x" != end ]; do echo "$x" >> inputs; done; (exit 3)';
  await session.exec({ code, yield: { maxMs: 500, promptMs: 100 } });
  const handle = engine.client.temporal.workflow.getHandle(session.workflowId);
  const runs = new Set<string>();
  for (let from = 0; from < INPUTS; from += BURST) {
    const burst = Array.from({ length: BURST }, (_, i) => String(from + i));
    await Promise.all(burst.map((keyboard) => handle.signal('input', { keyboard, id: keyboard })));
    await until(() => typed().length >= from + BURST, 60_000);
    // A stream without any gap puts the new beginning off: this sender leaves one when it is due.
    await until(async () => {
      const { runId, historyLength } = await handle.describe();
      runs.add(runId);
      return historyLength < 2_000;
    });
  }
  // The last ids again: they are known over every new beginning.
  await Promise.all(['900', '950', '999'].map((id) => handle.signal('input', { keyboard: id, id })));
  expect(await session.input({ keyboard: 'end' })).toMatchObject({ state: 'exited', exitCode: 3 });
  expect(runs.size).toBeGreaterThan(1);
  expect(typed().sort((a, b) => a - b)).toEqual(Array.from({ length: INPUTS }, (_, i) => i));
}, 300_000);
