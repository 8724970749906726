// D2: the worker dies at each named point of a command's life (system/faults/crash-point.ts).
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CrashPoint } from '../../system/faults/crash-point';
import type { SessionHandle } from '../../client/session-handle';
import { WORKER_LOST } from '../../contracts/errors/failure';
import { EngineOfItsOwn } from '../helpers/engines/engine-of-its-own';
import { testEachOf } from '../helpers/run/long-run';
import { processesMarked } from '../integration/exec/session-processes';

const engine = new EngineOfItsOwn();
let sessions = 0;
let session: SessionHandle;
/** Working folder of the shell, which also identifies its processes. */
let cwd: string;

beforeAll(() => engine.start(), 60_000);
afterAll(async () => {
  expect(await engine.end()).toEqual([]);
}, 60_000);
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
  session = engine.client.session({ agent: 'crash', session: sessions++ }, { cwd });
});
afterEach(async () => {
  await engine.startWorker();
  await session.close('the test has ended').catch(() => undefined);
  await session.closed();
  expect(processesMarked(cwd)).toEqual([]);
  rmSync(cwd, { recursive: true, force: true });
});

const effect = (): string =>
  existsSync(join(cwd, 'effect')) ? readFileSync(join(cwd, 'effect'), 'utf8') : '';
const shells = (): string[] => processesMarked(cwd).filter((line) => /^\d+ bash /.test(line));
/** For what prints once it is at work, however long a busy machine takes until then. */
const QUICKLY = { firstOutputMs: 60_000, betweenOutputMs: 100, maxMs: 60_000 };

/** Where the next worker finds an effect that is not yet recorded. At the others it finds none, or all recorded. */
const USUAL: CrashPoint[] = [
  ...(['command-recorded', 'command-journalled', 'end-due', 'yield-due'] as const),
  ...(['input-typed', 'reset-done', 'close-done'] as const),
];
const isUsual = ([, point]: [string, CrashPoint, ...unknown[]]): boolean => USUAL.includes(point);

/** The activity that begins a quick command answers with its end; one that lasts leaves it, and gets a journal. */
const LASTS = 'sleep 0.3;';
const COMMAND_POINTS: [string, CrashPoint, string][] = [
  ['before the holder gets it', 'command-arrived', ''],
  ['after the holder recorded it, before the journal', 'command-recorded', LASTS],
  ['after the journal', 'command-journalled', LASTS],
  ['when its end is known at once, before the server is told', 'end-due', ''],
  ['when its end is known later, before the server is told', 'end-due', LASTS],
  ['after the server was told of its end', 'end-told', LASTS],
];
testEachOf(COMMAND_POINTS, isUsual)(
  'a command whose worker dies %s runs once, and its caller gets the result',
  async (_when, point, lasting) => {
    const code = `echo ran >> effect; ${lasting} echo done; (exit 5)`;
    const view = await engine.crashingAt(point, () => session.exec({ code }));
    expect(view).toMatchObject({ state: 'exited', exitCode: 5, output: 'done\n' });
    expect(await session.exec({ code: 'true' })).toMatchObject({ exitCode: 0, epoch: 1, freshShell: false });
    expect(effect()).toBe('ran\n');
    expect(shells()).toHaveLength(1);
  },
);

/** Of an activity on a host. */
const HEARTBEAT_MS = 15_000;

/** How activities of a workflow failed. */
async function failuresOf(workflowId: string): Promise<unknown[]> {
  const { events } = await engine.client.temporal.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const ended = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes;
    return ended ? [ended.failure?.applicationFailureInfo?.type ?? 'time-out'] : [];
  });
}

test('an activity that a killed worker had received and not recorded is returned by the next worker, not by its timeout', async () => {
  const code = 'echo ran >> effect; echo done';
  const began = Date.now();
  expect(await engine.crashingAt('activity-arrived', () => session.exec({ code }))).toMatchObject({
    state: 'exited',
    output: 'done\n',
  });
  expect(effect()).toBe('ran\n');
  // A worker that needs longer to start comes too late: the server has given the activity up.
  const isTooLate = Date.now() - began >= HEARTBEAT_MS;
  expect(await failuresOf(session.workflowId)).toEqual([isTooLate ? expect.anything() : WORKER_LOST]);
});

const YIELD_POINTS: [string, CrashPoint][] = [
  ['before the session is told of its yield', 'yield-due'],
  ['after the session was told of its yield', 'yield-told'],
];
testEachOf(YIELD_POINTS, isUsual)(
  'a long command whose worker dies %s answers its caller, keeps running, and is followed to its end',
  async (_when, point) => {
    const code = 'echo ran >> effect; echo begun; until [ -e go-on ]; do sleep 0.02; done; (exit 6)';
    const view = await engine.crashingAt(point, () => session.exec({ code, yield: QUICKLY }));
    expect(view).toMatchObject({ state: 'running', output: 'begun\n' });
    writeFileSync(join(cwd, 'go-on'), '');
    expect(await session.output({ wait: 'exit' })).toMatchObject({ state: 'exited', exitCode: 6, epoch: 1 });
    expect(effect()).toBe('ran\n');
    expect(shells()).toHaveLength(1);
  },
);

const INPUT_POINTS: [string, CrashPoint][] = [
  ['before it is typed', 'input-arrived'],
  ['after it was typed', 'input-typed'],
];
testEachOf(INPUT_POINTS, isUsual)(
  'an input whose worker dies %s is typed once, into the same process',
  async (_when, point) => {
    const code = 'for i in 1 2; do read -r x; echo "$x" >> effect; done; (exit 7)';
    expect(await session.exec({ code })).toMatchObject({ state: 'waiting_input' });
    // Typed twice it would end the command.
    expect(await engine.crashingAt(point, () => session.input({ keyboard: 'one' }))).toMatchObject({
      state: 'waiting_input',
    });
    expect(await session.input({ keyboard: 'two' })).toMatchObject({
      state: 'exited',
      exitCode: 7,
      epoch: 1,
    });
    expect(effect()).toBe('one\ntwo\n');
    expect(shells()).toHaveLength(1);
  },
);

const RESET_POINTS: [string, CrashPoint][] = [
  ['before the tree is ended', 'reset-arrived'],
  ['after the tree was ended', 'reset-done'],
];
testEachOf(RESET_POINTS, isUsual)(
  'a reset whose worker dies %s ends the command, and one fresh shell takes the next',
  async (_when, point) => {
    await session.exec({ code: 'echo ran >> effect; echo begun; sleep 1000', yield: QUICKLY });
    const view = await engine.crashingAt(point, () => session.reset({ reason: 'it hangs' }));
    expect(view).toMatchObject({ state: 'exited', killedBy: { by: 'reset', reason: 'it hangs' } });
    expect(processesMarked(cwd)).toEqual([]);
    expect(await session.exec({ code: 'echo on' })).toMatchObject({
      output: 'on\n',
      epoch: 2,
      freshShell: true,
    });
    expect(effect()).toBe('ran\n');
    expect(shells()).toHaveLength(1);
  },
);

const CLOSE_POINTS: [string, CrashPoint][] = [
  ['before the tree is ended', 'close-arrived'],
  ['after the tree was ended', 'close-done'],
];
testEachOf(CLOSE_POINTS, isUsual)(
  'a close whose worker dies %s ends the session and all that runs in it',
  async (_when, point) => {
    const code = 'echo ran >> effect; echo begun; sleep 1000';
    await session.exec({ code, yield: QUICKLY });
    await engine.crashingAt(point, async () => {
      await session.close('done');
      await session.closed();
    });
    expect(processesMarked(cwd)).toEqual([]);
    expect(effect()).toBe('ran\n');
    expect((await session.state()).view).toMatchObject({ state: 'exited', killedBy: { by: 'closed' } });
  },
);
