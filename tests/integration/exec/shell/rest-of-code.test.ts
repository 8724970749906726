// Ending a session gives its programs time for a clean end, during which nothing more of the code begins.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TreeKill } from '../../../../contracts/sessions/session';
import { detectTreeKill } from '../../../../exec/processes/process-tree';
import { testEachOf } from '../../../helpers/run/long-run';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import { endWithoutTrace, holderOf, processesMarked, reset } from '../session-processes';

const own = detectTreeKill();
const ways: TreeKill[] = own === 'process-search' ? [own] : [own, 'process-search'];
/** Of the second way not all: it differs in what it finds, and in who takes orphans in. */
const EVERY = 3;

/** Each runs `sleep 300`, and would write `marker` next. */
const REST: [name: string, code: string][] = [
  ['behind a newline', 'sleep 300\necho ran > marker'],
  ['behind ;', 'sleep 300; echo ran > marker'],
  ['behind ||', 'sleep 300 || echo ran > marker'],
  ['behind a pipeline', 'sleep 300 | cat; echo ran > marker'],
  ['in a loop', 'for i in 1 2; do [[ $i == 2 ]] && echo ran > marker; sleep 300; done'],
  ['in the condition of a loop', 'until sleep 300; do echo ran > marker; done'],
  ['in a function', 'f() { sleep 300; echo ran > marker; }; f'],
  ['in a subshell', '(sleep 300; echo ran > marker)'],
  ['in a subshell with a trap', '(trap "echo ran > marker" TERM EXIT; sleep 300; echo ran > marker)'],
  ['in a substitution', 'x=$(sleep 300; echo ran > marker)'],
  ['in the background', '(sleep 300; echo ran > marker) & wait; echo ran > marker'],
  ['in bash -c', `bash -c 'sleep 300; echo ran > marker'; echo ran > marker`],
  ['in a script', `printf 'sleep 300\\necho ran > marker\\n' > script; sh script`],
  [
    'in a script of its own session',
    `printf 'sleep 300\\necho ran > marker\\n' > script; setsid sh script & wait`,
  ],
  ['in an interactive bash', `printf 'sleep 300\\necho ran > marker\\n' > script; bash -i < script`],
  ['typed into an interactive bash', `bash --norc -ic 'sleep 300; echo ran > marker'`],
  ['where a script ignores TERM', `bash -c 'trap "" TERM; sleep 300; echo ran > marker'`],
  [
    'where a script ignores TERM and its child does not',
    `bash -c 'trap "" TERM; ${'perl -e "\\$SIG{TERM}=DEFAULT; exec qw(sleep 300)"'}; echo ran > marker'`,
  ],
  ['where the session ignores TERM', `trap '' TERM; sleep 300; echo ran > marker`],
  ['in a TERM trap of the session', `trap 'echo ran > marker' TERM; sleep 300; echo ran > marker`],
  ['in an EXIT trap of the session', `trap 'echo ran > marker' EXIT; sleep 300`],
  [
    'in a Python program',
    `python3 -c 'import subprocess\nfor i in range(2):\n  subprocess.run(["sleep", "300"]); open("marker", "w")'`,
  ],
  [
    'in a Python program that ignores TERM',
    `python3 -c 'import signal, subprocess\nsignal.signal(15, signal.SIG_IGN)\nsubprocess.run(["sleep", "300"], preexec_fn=lambda: signal.signal(15, signal.SIG_DFL)); open("marker", "w")'`,
  ],
  [
    'in a Node program',
    `node -e 'const c = require("child_process"); c.spawnSync("sleep", ["300"]); require("fs").writeFileSync("marker", "")'`,
  ],
  [
    'in a Makefile',
    `printf 'all: a b\\na:\\n\\t-sleep 300; echo ran > marker\\nb:\\n\\techo ran > marker\\n' > Makefile; make -k`,
  ],
  ['of xargs', `printf '300\\n0\\n' | xargs -n1 sh -c 'sleep $0; echo ran > marker'`],
  ['of find', `touch a b; find a b -exec sh -c 'sleep 300; echo ran > marker' ';'`],
  ['under timeout', `timeout 400 sh -c 'sleep 300; echo ran > marker'; echo ran > marker`],
];

/** In the long run: the same ends as others of the table, below other programs. */
const LATER = [
  ...['behind a newline', 'behind ||', 'behind a pipeline', 'in the condition of a loop', 'in a subshell'],
  ...['in a substitution', 'in bash -c', 'in a script', 'where a script ignores TERM', 'in a Python program'],
  ...['in a Node program', 'in a Makefile', 'of find', 'under timeout'],
];

describe.each(ways)('by %s', (treeKill) => {
  let t: TestHost;
  // Not ASCII: the path is how the session's own shell is recognised.
  beforeAll(() => (t = testHost({ treeKill, dataDir: mkdtempSync(join(tmpdir(), 'holdfast für alle ')) })));
  afterAll(() => endWithoutTrace(t));
  beforeEach(() => {
    for (const name of ['marker', 'clean', 'ready']) rmSync(join(t.cwd, name), { force: true });
  });
  const marker = (): string => join(t.cwd, 'marker');

  async function untilSleeping(code: string): Promise<void> {
    await t.run(code, { yield: { firstOutputMs: 0 } });
    await until(() => processesMarked(t.cwd).some((line) => /^\d+ sleep 300$/.test(line)));
  }

  const rest = REST.filter((_, n) => treeKill === own || n % EVERY === 2);
  testEachOf(rest, ([name]) => !LATER.includes(name))(
    'a reset begins nothing of the code %s',
    async (_name, code) => {
      await untilSleeping(code);
      await reset(t);
      expect(existsSync(marker())).toBe(false);
      expect(processesMarked(t.cwd).filter((line) => /sleep 300/.test(line))).toEqual([]);
    },
  );

  test('a close and the end of a holder begin nothing of the code', async () => {
    await untilSleeping('sleep 300; echo ran > marker');
    await t.host.close(t.ref, 'done');
    expect(existsSync(marker())).toBe(false);
    await untilSleeping('sleep 300; echo ran > marker');
    const holder = holderOf(t);
    process.kill(holder, 'SIGTERM');
    await until(() => !t.host.isOpen(t.ref));
    expect(existsSync(marker())).toBe(false);
    // Sent to the one that ends, it is run by the next.
    expect(await t.run('echo "$((40 + 2))"')).toMatchObject({ output: '42\n', exitCode: 0 });
    expect(holderOf(t)).not.toBe(holder);
  });

  // With a namespace the kernel ends the shell a moment after the program: docs/guarantees.md.
  if (treeKill === 'process-search')
    test('the shell of a holder that is killed does not go on with the code', async () => {
      await untilSleeping('sleep 300; echo ran > marker');
      process.kill(holderOf(t), 'SIGKILL');
      await until(() => processesMarked(t.cwd).length === 0);
      expect(existsSync(marker())).toBe(false);
    });

  test('a program with a handler for TERM ends cleanly, below a shell that is stopped too', async () => {
    const code = `import signal, sys, time
def end(*_):
  open("clean", "w").write("saved"); sys.exit()
signal.signal(15, end)
open("ready", "w")
while True: time.sleep(300)`;
    await t.run(code, { runtime: 'python', yield: { firstOutputMs: 0 } });
    await until(() => existsSync(join(t.cwd, 'ready')));
    await reset(t);
    expect(readFileSync(join(t.cwd, 'clean'), 'utf8')).toBe('saved');
  });

  test('the EXIT trap of a separate script runs, and nothing after it', async () => {
    await untilSleeping(`bash -c 'trap "echo saved > clean" EXIT; sleep 300; echo ran > marker'`);
    await reset(t);
    expect(existsSync(marker())).toBe(false);
    expect(readFileSync(join(t.cwd, 'clean'), 'utf8')).toBe('saved\n');
  });

  test('a program that was stopped ends cleanly', async () => {
    const trap = `trap "echo saved > clean; exit" TERM; touch ready; while :; do sleep 0.01; done`;
    await t.run(`bash -c '${trap}' &\nuntil [[ -e ready ]]; do sleep 0.01; done; kill -STOP $!`);
    await reset(t);
    expect(readFileSync(join(t.cwd, 'clean'), 'utf8')).toBe('saved\n');
  });
});
