// A holder's session in this process, whose wall clock is set back while it waits, or which is asked twice at once.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SeenPrompt } from '../../../../contracts/schemas/session';
import { contentHash } from '../../../../exec/command-records';
import { sessionEnvironment } from '../../../../exec/host/session-environment';
import { Session } from '../../../../exec/holder/session';
import { detectTreeKill } from '../../../../exec/processes/process-tree';
import type { ObserveReason, Until } from '../../../../exec/protocol';
import { sessionPaths } from '../../../../exec/session-paths';
import { makeFolder } from '../../../../system/make-folder';

const TWO_HOURS_MS = 7_200_000;
const wallClock = Date.now.bind(Date);

let dataDir: string;
let session: Session;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-clock-'));
  const paths = sessionPaths(dataDir, { agent: 'test', host: 'local', session: 0 });
  makeFolder(paths.directory);
  const reach = { session: 0, socketPath: join(dataDir, 'socket'), token: 'x' };
  const env = sessionEnvironment(process.env);
  session = new Session({ ...reach, cwd: dataDir, env, treeKill: detectTreeKill() }, paths, undefined);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await session.reset({ id: 'end', reason: null, by: 'reset' });
  rmSync(dataDir, { recursive: true, force: true });
});

const setBack = (): void => void jest.spyOn(Date, 'now').mockImplementation(() => wallClock() - TWO_HOURS_MS);
const run = (code: string, id = 'one'): Promise<unknown> =>
  session.run({ id, runtime: 'terminal', code, contentHash: contentHash('terminal', code) });
const wait = async (until: Until): Promise<ObserveReason> =>
  (await session.observe(until, new AbortController().signal)).reason;
const NEEDS_INPUT: Until = { kind: 'needs_input', from: 0, timeoutMs: 20_000 };
async function prompt(): Promise<SeenPrompt> {
  expect(await wait(NEEDS_INPUT)).toBe('waiting_input');
  const { command, waiting } = session.snapshot();
  return { command: command?.id ?? '', since: waiting?.since ?? '' };
}
const answer = (id: string, seen: SeenPrompt): Promise<unknown> =>
  session.input({ id, text: id, keys: [], prompt: seen });

test('answers reach the prompts that follow after the clock was set back, of this command and of the next', async () => {
  await run('read -p "one? " a; read -p "two? " b; (exit 3)');
  await answer('a', await prompt());
  setBack();
  const second = await prompt();
  await answer('b', second);
  await expect(answer('c', second)).rejects.toMatchObject({
    code: expect.stringMatching(/prompt_over|no_running_process/) as unknown,
  });
  expect(await wait({ kind: 'exit', from: 0, timeoutMs: 20_000 })).toBe('exit');
  expect(session.snapshot().command?.exitCode).toBe(3);
  await session.reset({ id: 'fresh', reason: null, by: 'reset' });
  await run('read -p "three? " c; (exit 4)', 'two');
  await answer('d', await prompt());
  expect(await wait({ kind: 'exit', from: 0, timeoutMs: 20_000 })).toBe('exit');
  expect(session.snapshot().command?.exitCode).toBe(4);
});

const YIELD = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000, promptMs: 600_000 };
test.each<[string, string, () => Until, ObserveReason]>([
  ['its time limit', 'sleep 600', () => ({ kind: 'exit', from: 0, timeoutMs: 1_500 }), 'timeout'],
  ['silence', 'echo x; sleep 600', () => ({ kind: 'idle', from: 0, timeoutMs: 20_000 }), 'idle'],
  ['its longest yield', 'sleep 600', () => ({ kind: 'yield', settings: { ...YIELD, maxMs: 1_500 } }), 'max'],
  [
    'its longest yield from when the caller typed',
    'sleep 600',
    () => ({ kind: 'yield', settings: { ...YIELD, maxMs: 1_500 }, sinceMs: Date.now() }),
    'max',
  ],
])('a wait ends with %s though the clock was set back meanwhile', async (_end, code, until, reason) => {
  await run(code);
  const began = performance.now();
  const ended = wait(until());
  setBack();
  // A change makes it look at the time again.
  session.changes.notify();
  expect(await ended).toBe(reason);
  expect(performance.now() - began).toBeLessThan(10_000);
});

test('a caller whose clock was set back a moment after it typed waits from then on, no longer', async () => {
  await run('sleep 600');
  const until: Until = { kind: 'yield', settings: { ...YIELD, maxMs: 300 }, sinceMs: Date.now() };
  setBack();
  expect(await wait(until)).toBe('max');
});

test('an input that is repeated before it is typed is no success unless it is typed', async () => {
  await run('read -p "one? " a; read -p "two? " b');
  const first = await prompt();
  await answer('a', first);
  await prompt();
  const both = await Promise.allSettled([answer('late', first), answer('late', first)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(await Promise.all([answer('b', await prompt()), run('true').catch(() => null)])).toHaveLength(2);
});
