// S20: a program that waits for typing is told from one that works, by facts of the operating system.
import type { Runtime } from '../../../contracts/session';
import { testHost, type TestHost } from '../../helpers/session-host';
import { endWithoutTrace, reset } from './session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterEach(() => reset(t));
afterAll(() => endWithoutTrace(t));

const certain: [string, Runtime, string, boolean][] = [
  ['bash read', 'terminal', 'read x', true],
  ['a Press ENTER', 'terminal', 'read -p "Press ENTER to continue" -r _', true],
  ['a [Y/n]', 'terminal', 'printf "Proceed? [Y/n] "; read -r answer', true],
  ['a silent read', 'terminal', 'read -s -p "Password: " x', false],
  ['a read of one key', 'terminal', 'read -n 1 x', true],
  ['cat', 'terminal', 'cat', true],
  ['a reader behind a pipe', 'terminal', 'cat | wc -l', true],
  ['a reader of /dev/tty', 'terminal', 'head -n 1 < /dev/tty', true],
  ['Python input()', 'python', 'input("name? ")', true],
  ['Python getpass', 'python', 'import getpass\ngetpass.getpass()', false],
  [
    'a thread in Python input()',
    'python',
    'import threading\nw = threading.Thread(target=input)\nw.start()\nw.join()',
    true,
  ],
  ['a child that reads', 'terminal', 'sh -c "sh -c \\"read x\\""', true],
];

test.each(certain)(
  '%s is reported at once, as certain, and whether it echoes',
  async (_name, runtime, code, echo) => {
    const view = await t.run(code, { runtime });
    expect(view).toMatchObject({
      state: 'waiting_input',
      yielded: 'waiting_input',
      waiting: { echo, certainty: 'certain' },
    });
    expect(view.durationMs).toBeLessThan(3_000);
  },
);

test.each([
  ['a Python REPL', 'python3 -q', 'likely'],
  ['a readline prompt of bash', 'read -e -p "> " x', 'likely'],
  [
    'a Python select on its input',
    `python3 -c 'import select, sys; select.select([sys.stdin], [], [])'`,
    'likely',
  ],
  [
    'a poll with a time-out',
    `python3 -c 'import select, sys; select.select([sys.stdin], [], [], 600)'`,
    'hint',
  ],
] as const)('%s is reported after its time for prompts, as %s', async (_name, code, certainty) => {
  const view = await t.run(code, { yield: { promptMs: 200 } });
  expect(view).toMatchObject({ state: 'waiting_input', yielded: 'waiting_input' });
  // bash's readline polls, or reads where there is nothing to poll for.
  expect([certainty, ...(code.startsWith('read') ? ['certain'] : [])]).toContain(view.waiting?.certainty);
});

test('a time-out that polls the terminal is no reason to say that input is needed', async () => {
  await t.run(`python3 -c 'import select, sys; select.select([sys.stdin], [], [], 600)'`, {
    yield: { promptMs: 100 },
  });
  expect(await t.host.observe(t.ref, { kind: 'needs_input', from: 0, timeoutMs: 400 })).toMatchObject({
    reason: 'timeout',
  });
});

test.each([
  ['a text that looks like a prompt', `printf 'Building:'; sleep 600`],
  ['a question that nobody waits for', `printf 'Continue? [Y/n] '; sleep 600`],
  ['a silent computation', 'sleep 600'],
  ['tail -f', 'touch grows; tail -f grows'],
  ['a program that reads a pipe', 'sleep 600 | cat'],
  ['a program that reads a FIFO', 'rm -f fifo; mkfifo fifo; cat < fifo'],
  ['a server', `node -e 'require("net").createServer().listen(0)'`],
  ['a background reader', '(cat < /dev/tty) & sleep 600'],
  ['input from a file', 'cat < /dev/zero > /dev/null'],
])('%s is not reported', async (_name, code) => {
  const view = await t.run(code, { yield: { firstOutputMs: 600, betweenOutputMs: 600, promptMs: 50 } });
  expect(view).toMatchObject({ state: 'running', waiting: null });
  expect(view.yielded).toMatch(/first_output|between_output/);
});

test('a wait that is over is not reported any more', async () => {
  await t.run('read x; sleep 600', { yield: { firstOutputMs: 300, betweenOutputMs: 300 } });
  await t.host.input(t.ref, { id: 'answer', text: 'x', keys: [] });
  const view = await t.until({ kind: 'idle', from: 0, timeoutMs: 5_000 });
  expect(view).toMatchObject({ state: 'running', waiting: null });
});
