// S3, S5: a yield hands over the output so far; the process lives on and nothing is typed into it.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { YieldSettings } from '../../../../contracts/sessions/session';
import { commandView } from '../../../../exec/host/command-view';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace, logOf, otherSession, reset } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

/** The next page of a reader that was given everything before `from`. */
async function poll(from: number): Promise<{ text: string; to: number; ended: boolean }> {
  const { reason, snapshot } = await t.host.observe(t.ref, { kind: 'output', from, timeoutMs: 30_000 });
  const view = await commandView({
    ref: t.ref,
    logPath: t.host.logPath(t.ref),
    snapshot,
    from,
    maxBytes: 4_096,
    reason,
  });
  return { text: view.output, to: view.to, ended: view.state === 'exited' && view.to === snapshot.end };
}

const yields: [reason: string, code: string, settings: Partial<YieldSettings>, output: string][] = [
  ['first_output', 'sleep 600', { firstOutputMs: 150 }, ''],
  ['between_output', 'echo a; sleep 600', { betweenOutputMs: 150 }, 'a\n'],
  [
    'max',
    'while :; do echo x; sleep 0.03; done',
    // Long enough for a busy machine to print a line.
    { maxMs: 3_000 },
    expect.stringMatching(/^(x\n)+$/) as string,
  ],
  ['waiting_input', 'echo name; read name', {}, 'name\n'],
];

test.each(yields)(
  'a yield says that its reason is %s, with the output so far and its offset',
  async (...row) => {
    const [yielded, code, settings, output] = row;
    const view = await t.run(code, { yield: settings });
    const state = yielded === 'waiting_input' ? yielded : 'running';
    expect(view).toMatchObject({ yielded, state, exitCode: null, output });
    expect(logOf(t).length).toBeGreaterThanOrEqual(view.to);
    await reset(t);
  },
);

test('after a yield the next poll has the rest, exactly once', async () => {
  const go = join(t.cwd, 'go');
  const first = await t.run(`echo one; until [ -e '${go}' ]; do sleep 0.02; done; echo two; (exit 3)`, {
    yield: { betweenOutputMs: 100 },
  });
  expect(first).toMatchObject({ output: 'one\n', state: 'running', yielded: 'between_output' });
  writeFileSync(go, '');
  const end = await t.until({ kind: 'exit', from: first.to, timeoutMs: 30_000 });
  expect(end).toMatchObject({ exitCode: 3, output: 'one\ntwo\n' });
  expect(logOf(t).subarray(first.to, end.to).toString()).toBe('two\r\n');
});

test('polls by offset during a trickle add up to every line once', async () => {
  const numbers = Array.from({ length: 2_000 }, (_, i) => `line ${i}\n`);
  const view = await t.run(
    'for ((i = 0; i < 2000; i++)); do echo "line $i"; ((i % 100)) || sleep 0.01; done',
    { yield: { maxMs: 1, betweenOutputMs: 1 } },
  );
  let text = '';
  let polls = 0;
  let page = { text: '', to: view.from, ended: false };
  while (!page.ended && polls < 5_000) {
    page = await poll(page.to);
    text += page.text;
    polls += 1;
  }
  expect(polls).toBeGreaterThan(5);
  expect(text).toBe(numbers.join(''));
});

test('a flood between two polls arrives whole by offset and bounded by default', async () => {
  const view = await t.run('seq 100000');
  expect(view.output.length).toBeLessThan(20_000);
  expect(view.omittedBytes).toBeGreaterThan(500_000);
  let text = '';
  for (let from = view.from; from < view.to;) {
    const page = await commandView({
      ref: t.ref,
      logPath: t.host.logPath(t.ref),
      snapshot: await t.host.status(t.ref),
      from,
      maxBytes: 65_536,
    });
    text += page.output;
    from = page.to;
  }
  expect(text).toBe(Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join(''));
});

test('a reader past the end of the log is told up to where it may read', async () => {
  const snapshot = await t.host.status(t.ref);
  const asked = commandView({
    ref: t.ref,
    logPath: t.host.logPath(t.ref),
    snapshot,
    from: snapshot.end + 1,
    maxBytes: 10,
  });
  await expect(asked).rejects.toMatchObject({
    code: 'offset_out_of_range',
    facts: { allowed: snapshot.end },
  });
});

describe('a command to a busy session', () => {
  const ref = (): TestHost['ref'] => otherSession(t, 1);
  afterEach(() => reset(t, ref()));

  test('is refused as busy, is not run, and is not typed into the running program', async () => {
    const effect = join(t.cwd, 'effect');
    const running = await t.run('cat', { ref: ref() });
    expect(running.state).toBe('waiting_input');
    await expect(
      t.host.run(ref(), { id: 'second', runtime: 'terminal', code: `touch '${effect}'` }),
    ).rejects.toMatchObject({
      code: 'busy',
      retryable: true,
      facts: { session: 1, from: running.from },
    });
    await t.host.input(ref(), { id: 'eof', text: null, keys: ['ctrl-d'] });
    const end = await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 }, ref());
    expect(end).toMatchObject({ exitCode: 0, output: '' });
    expect(existsSync(effect)).toBe(false);
    // A refusal is not recorded: the same id may be sent again.
    expect(await t.run(`touch '${effect}'`, { ref: ref(), id: 'second' })).toMatchObject({ exitCode: 0 });
    expect(existsSync(effect)).toBe(true);
  });

  test('does not hold up another session', async () => {
    await t.run('sleep 600', { ref: ref(), yield: { firstOutputMs: 50 } });
    const view = await t.run('echo free');
    expect(view).toMatchObject({ output: 'free\n' });
    expect(view.durationMs).toBeLessThan(5_000);
  });

  test('that is about to be busy twice runs one of two simultaneous commands', async () => {
    const codes = ['a', 'b'].map((id) =>
      t.host.run(ref(), { id, runtime: 'terminal', code: `echo ${id} >> both; sleep 600` }),
    );
    const outcomes = await Promise.allSettled(codes);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});
