// S11: what real programs draw is shown in its last state; omitted parts can be read exactly.
import { commandView } from '../../../../exec/host/command-view';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace } from '../session-processes';
import { testWith } from '../../../helpers/run/programs';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

test('a progress bar of git shows its last state', async () => {
  await t.run(
    'git init -q a && cd a && git config user.name a && git config user.email a@b && seq 20000 > f && git add f && git commit -qm f && cd ..',
  );
  const view = await t.run('git clone --progress --no-local "file://$PWD/a" b');
  expect(view).toMatchObject({ exitCode: 0 });
  expect(view.output.match(/Receiving objects: +(\d+)%/g)).toEqual(['Receiving objects: 100%']);
});

testWith('curl')('the meter of curl shows its last state', async () => {
  const view = await t.run('seq 500000 > big; curl -o copy "file://$PWD/big"');
  expect(view).toMatchObject({ exitCode: 0 });
  expect(view.output.match(/^ *100 .*$/gm)).toHaveLength(1);
});

test.each([
  ['one bar', `for i in $(seq 0 200); do printf '\\r%3d%%' $i; done; echo`, '200%\n'],
  [
    'a bar that clears its line',
    `for i in $(seq 0 200); do printf '\\r\\033[2K%d of 200' $i; done; echo`,
    '200 of 200\n',
  ],
  [
    'three bars, drawn again from the top',
    `printf 'a\\nb\\nc\\n'; for i in $(seq 1 200); do printf '\\033[3A\\033[2Ka %d\\n\\033[2Kb %d\\n\\033[2Kc %d\\n' $i $i $i; done`,
    'a 200\nb 200\nc 200\n',
  ],
  ['a spinner', `for i in 1 2 3 4 5; do printf '|\\b/\\b-\\b\\\\\\b'; done; printf ' \\bdone\\n'`, 'done\n'],
  ['colours', `printf '\\033[1;31mred\\033[0m \\033]0;title\\007plain\\n'`, 'red plain\n'],
  [
    'a bar of Python',
    `python3 -c "
import sys, time
for i in range(201):
    sys.stderr.write(f'\\r{i / 2:5.1f}%|{chr(9608) * (i // 10)}')
print(file=sys.stderr)"`,
    `100.0%|${'█'.repeat(20)}\n`,
  ],
  [
    'look-alikes of sequences',
    `printf '%s\\n' '\\x41 \\u001b[31m \\033[0m ^[[1m [31m'`,
    '\\x41 \\u001b[31m \\033[0m ^[[1m [31m\n',
  ],
  [
    'look-alikes beside a real one',
    `printf '\\033[1m%s\\033[0m\\n' '\\x41 %0a &lt; \\n'`,
    '\\x41 %0a &lt; \\n\n',
  ],
])('%s is shown as a person sees it in the end', async (_name, code, output) => {
  expect(await t.run(code)).toMatchObject({ output, exitCode: 0, omittedBytes: 0 });
});

test('a bar that was drawn ten thousand times ends in its last state', async () => {
  const view = await t.run(`for i in {1..10000}; do printf '\\r%5d of 10000' $i; done; echo`);
  expect(view.output).toMatch(/\n10000 of 10000\n$/);
  expect(view.omittedBytes).toBeGreaterThan(100_000);
});

test('long output keeps head and tail, and the note leads to exactly the part between', async () => {
  const view = await t.run('seq 1 30000');
  const note = /\n\[(\d+) bytes \/ (\d+) lines omitted, read from offset (\d+)\]\n/.exec(view.output);
  const [head = '', tail = ''] = view.output.split(note?.[0] ?? '\0');
  let from = Number(note?.[3]);
  const to = from + Number(note?.[1]);
  let between = '';
  while (from < to) {
    const snapshot = await t.host.status(t.ref);
    const page = await commandView({
      ref: t.ref,
      logPath: t.host.logPath(t.ref),
      snapshot,
      from,
      maxBytes: Math.min(50_000, to - from),
    });
    between += page.output;
    from = page.to;
  }
  expect(`${head}\n${between}${tail}`.replace('\n\n', '\n')).toBe(
    Array.from({ length: 30_000 }, (_, i) => `${i + 1}\n`).join(''),
  );
  expect(between.split('\n')).toHaveLength(Number(note?.[2]) + 1);
  expect(view.omittedBytes).toBe(Number(note?.[1]));
});
