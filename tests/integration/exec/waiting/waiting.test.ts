// S20: a program that waits for typing is distinguished from one that works, by facts of the operating system.
import type { Runtime } from '../../../../contracts/sessions/session';
import { readTree } from '../../../../exec/tree-record';
import { sessionPaths } from '../../../../exec/session-paths';
import type { Shell } from '../../../../exec/holder/shell/shell';
import { WaitingWatch } from '../../../../exec/holder/waiting/waiting-watch';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace, reset } from '../session-processes';

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
  ['a [Y/n] of Python', 'python', 'input("Continue? [Y/n] ")', true],
  [
    'a [Y/n] as apt asks it',
    'terminal',
    `perl -e '$| = 1; print "Do you want to continue? [Y/n] "; <STDIN>'`,
    true,
  ],
  ['a Press any key', 'terminal', 'read -n 1 -s -r -p "Press any key"', true],
  [
    'a passphrase of ssh-keygen',
    'terminal',
    'command -v ssh-keygen >/dev/null && ssh-keygen -q -t ed25519 -f key || read -s',
    false,
  ],
  ['a select menu of bash', 'terminal', 'select x in a b; do break; done', true],
  ['a reader behind an answered question', 'terminal', 'echo y | (read -r a; read -r b < /dev/tty)', true],
  ['a nested shell that asks', 'terminal', 'PS1="$ " bash --norc --noediting -i', true],
  [
    'a Node program that reads its input at once',
    'nodejs',
    'require("fs").readSync(0, Buffer.alloc(1))',
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
    // As one that is only likely it would be later; that it is certain is above.
    expect(view.durationMs).toBeLessThan(9_000);
  },
);

test.each([
  ['a Python REPL', 'likely', 'python3 -q'],
  ['a readline prompt of bash', 'likely', 'read -e -p "> " x'],
  ['a Python select', 'likely', `python3 -c 'import select, sys; select.select([sys.stdin], [], [])'`],
  [
    'a poll with a time-out',
    'hint',
    `python3 -c 'import select, sys; select.select([sys.stdin], [], [], 600)'`,
  ],
  [
    'a prompt of Node beside a timer',
    'likely',
    `node -e 'process.stdin.resume(); setTimeout(() => {}, 600_000)'`,
  ],
  ['a program of Node that ticks', 'hint', `node -e 'process.stdin.resume(); setInterval(() => {}, 1_000)'`],
] as const)('%s is reported after its time for prompts, as %s', async (_name, certainty, code) => {
  const view = await t.run(code, { yield: { promptMs: 200 } });
  expect(view).toMatchObject({ state: 'waiting_input', yielded: 'waiting_input' });
  // bash's readline polls, or reads where there is nothing to poll for.
  expect([certainty, ...(code.startsWith('read') ? ['certain'] : [])]).toContain(view.waiting?.certainty);
});

const HOURS = { firstOutputMs: 3_600_000, betweenOutputMs: 3_600_000, maxMs: 3_600_000, promptMs: 3_600_000 };

test('a read that ends by itself after a time is not taken for a wait', async () => {
  const lines = [
    'import os, sys, termios, tty',
    'tty.setraw(0)',
    'now = termios.tcgetattr(0)',
    'now[6][termios.VMIN], now[6][termios.VTIME] = 0, 3',
    'termios.tcsetattr(0, termios.TCSANOW, now)',
    'seen = [os.read(0, 1) for _ in range(4)]',
    'print(seen)',
  ];
  const view = await t.run(lines.join('\n'), { runtime: 'python', yield: HOURS });
  expect(view).toMatchObject({ state: 'exited', exitCode: 0 });
});

test('a program that works beside a thread which reads the terminal is not taken for one that waits', async () => {
  const lines = [
    'import os, sys, threading, time',
    'threading.Thread(target=sys.stdin.readline, daemon=True).start()',
    'for n in range(12): time.sleep(0.08); print(n, flush=True)',
    'os._exit(0)',
  ];
  const view = await t.run(lines.join('\n'), { runtime: 'python', yield: HOURS });
  expect(view).toMatchObject({ state: 'exited', exitCode: 0 });
});

test('a prompt of >>> is reported as a wait, and what is typed there is answered there', async () => {
  const view = await t.run('python3 -q', { yield: { promptMs: 200 } });
  expect(view).toMatchObject({ state: 'waiting_input', waiting: { echo: true } });
  expect(view.output).toBe('>>> ');
  await t.host.input(t.ref, { id: 'sum', text: '6 * 7', keys: [] });
  const { snapshot } = await t.host.observe(t.ref, { kind: 'output', from: view.to + 8, timeoutMs: 30_000 });
  expect(snapshot.command?.endedAt).toBeNull();
  const again = await t.until({ kind: 'needs_input', from: 0, timeoutMs: 30_000 });
  expect(again).toMatchObject({ state: 'waiting_input', output: '>>> 6 * 7\n42\n>>> ' });
  await t.host.input(t.ref, { id: 'end', text: null, keys: ['ctrl-d'] });
  expect(await t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 })).toMatchObject({ exitCode: 0 });
});

test.each([
  ['Python', 'python3 -q', '6 * 7', '42\n>>> '],
  ['Node', 'node -i', '6 * 7', '42\n> '],
])(
  'a REPL of %s that is back at its prompt has answered: its caller waits no longer',
  async (_name, code, line, shown) => {
    await t.run(code, { yield: { promptMs: 200 } });
    const minutes = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000, promptMs: 600_000 };
    await t.host.input(t.ref, { id: `sum of ${code}`, text: line, keys: [] });
    const view = await t.until({ kind: 'yield', settings: minutes, sinceMs: Date.now() });
    expect(view).toMatchObject({ state: 'waiting_input', yielded: 'waiting_input' });
    expect(view.output.endsWith(shown)).toBe(true);
  },
);

test('a prompt of Node is at most likely: an idle server with a terminal looks the same', async () => {
  const repl = await t.run('node -i', { yield: { promptMs: 200 } });
  expect(repl).toMatchObject({ state: 'waiting_input' });
  expect(['likely', 'hint']).toContain(repl.waiting?.certainty);
  await reset(t);
  const server = await t.run(
    `node -e 'process.stdin.on("data", () => {}); require("net").createServer().listen(0)'`,
    {
      yield: { promptMs: 200, firstOutputMs: 5_000 },
    },
  );
  expect(server.state === 'running' ? 'none' : server.waiting?.certainty).toMatch(/none|likely|hint/);
});

test('a program that works after an answered question is not reported until it asks again', async () => {
  await t.run(
    `read -p 'go? ' x; printf 'Building: '; i=0; while ((i < 300000)); do ((i++)); done; read -p 'again? ' y`,
  );
  await t.host.input(t.ref, { id: 'go', text: 'y', keys: [] });
  const { snapshot } = await t.host.observe(t.ref, { kind: 'needs_input', from: 0, timeoutMs: 20_000 });
  expect(snapshot.waiting).toMatchObject({ certainty: 'certain' });
  expect((await t.until({ kind: 'idle', from: 0, timeoutMs: 30_000 })).output).toBe(
    'go? y\nBuilding: again? ',
  );
});

test('a program that the kernel has not yet woken for what was typed is not taken, at one look, for one that waits again', async () => {
  const { output } = await t.run('tty; read x');
  const shell = { leader: readTree(sessionPaths(t.dataDir, t.ref))?.leader.pid, ttyPath: output.trim() };
  let onTold = (): void => {};
  // What is typed never arrives here: as on a machine that has no time yet to hand it on.
  const watch = new WaitingWatch(shell as Shell, () => {
    if (watch.current) onTold();
  });
  const msUntilTold = async (isTyped: boolean): Promise<number> => {
    const startedAt = Date.now();
    const told = new Promise<void>((resolve) => (onTold = resolve));
    if (isTyped) watch.typing();
    watch.touch();
    await told;
    return Date.now() - startedAt;
  };
  try {
    // The pauses before two looks take 155 ms and more, that before one 5 to 20 ms.
    expect(await msUntilTold(true)).toBeGreaterThanOrEqual(150);
    await msUntilTold(false);
    expect(await msUntilTold(true)).toBeGreaterThanOrEqual(150);
  } finally {
    watch.stop();
  }
});

test('polling the terminal with a timeout is no reason to say that input is needed', async () => {
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
  ['a text that looks like a prompt while a core is busy', `printf 'Building: '; while :; do :; done`],
  ['a compiler at work behind its question', `printf 'Install? [y/N] '; sh -c 'while :; do :; done'`],
  ['a Press ENTER that nobody reads', `printf 'Press ENTER to continue'; sleep 600`],
  ['a prompt of >>> that nobody reads', `printf '>>> '; sleep 600`],
  ['a Password: that nobody reads', `printf 'Password: '; sleep 600`],
  ['a writer of much output', `while :; do echo x; sleep 0.2; done`],
  ['a wait for a child', 'sleep 600 & wait'],
  ['a wait for a lock', 'exec 9>lock; flock 9; (flock 9) 9<lock & sleep 600'],
  ['a silent computation', 'sleep 600'],
  ['tail -f', 'touch grows; tail -f grows'],
  ['a program that reads a pipe', 'sleep 600 | cat'],
  ['a program that reads a FIFO', 'rm -f fifo; mkfifo fifo; cat < fifo'],
  ['a server', `node -e 'require("net").createServer().listen(0)'`],
  ['a background reader', '(cat < /dev/tty) & sleep 600'],
  ['input from a file', 'cat < /dev/zero > /dev/null'],
])('%s is not reported', async (_name, code) => {
  const view = await t.run(code, {
    yield: { firstOutputMs: 600, betweenOutputMs: 600, maxMs: 2_000, promptMs: 50 },
  });
  expect(view).toMatchObject({ state: 'running', waiting: null });
  expect(view.yielded).toMatch(/first_output|between_output|max/);
});

test('a wait that is over is no longer reported', async () => {
  await t.run('read x; sleep 600', { yield: { firstOutputMs: 300, betweenOutputMs: 300 } });
  await t.host.input(t.ref, { id: 'answer', text: 'x', keys: [] });
  const view = await t.until({ kind: 'idle', from: 0, timeoutMs: 30_000 });
  expect(view).toMatchObject({ state: 'running', waiting: null });
});
