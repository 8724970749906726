// I2, I4, I5: input that is too long, arrives too late or is not read is bounded, and refused or delivered as a whole.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandView, Key } from '../../../../contracts/sessions/session';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import {
  cpuTicks,
  endWithoutTrace,
  holderOf,
  otherSession,
  processesMarked,
  reset,
} from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterEach(async () => {
  if ((await t.host.status(t.ref)).command?.endedAt === null) await reset(t);
});
afterAll(() => endWithoutTrace(t));

let inputs = 0;
const type = (
  text: string | null,
  keys: Key[] = [],
  id = `i${++inputs}`,
  ref = t.ref,
): ReturnType<TestHost['host']['input']> => t.host.input(ref, { id, text, keys });
const exit = (ref = t.ref): Promise<CommandView> =>
  t.until({ kind: 'exit', from: 0, timeoutMs: 30_000 }, ref);
describe('a long line', () => {
  const LENGTHS = [4_094, 4_095];

  test.each(LENGTHS)('of %i bytes arrives whole', async (length) => {
    await t.run(`IFS= read -r x; printf %s "$x" > 'line'`);
    await type('y'.repeat(length));
    await exit();
    expect(readFileSync(join(t.cwd, 'line'), 'utf8')).toHaveLength(length);
  });

  test.each([4_096, 5_000, 100_000])(
    'of %i bytes is refused before anything is typed, never cut',
    async (length) => {
      await t.run(`IFS= read -r x; printf %s "$x" > 'line'`);
      await expect(type('y'.repeat(length), [], `long ${length}`)).rejects.toMatchObject({
        code: 'input_too_long',
        facts: { got: length, allowed: 4_095 },
      });
      await type('short', [], `long ${length}`);
      await exit();
      expect(readFileSync(join(t.cwd, 'line'), 'utf8')).toBe('short');
    },
  );

  test('of 6,000 bytes in two inputs without Enter is refused at the second, and nothing of that is typed', async () => {
    await t.run(`IFS= read -r x; IFS= read -r y; printf '%s ' \${#x} \${#y} > 'line'`);
    const piece = (length: number, enter: boolean): ReturnType<typeof type> =>
      t.host.input(t.ref, { id: `i${++inputs}`, text: 'y'.repeat(length), keys: [], enter });
    await piece(3_000, false);
    await expect(piece(3_000, true)).rejects.toMatchObject({
      code: 'input_too_long',
      facts: { got: 6_000, allowed: 4_095 },
    });
    await piece(1_095, true);
    await piece(4_095, true);
    await exit();
    expect(readFileSync(join(t.cwd, 'line'), 'utf8')).toBe('4095 4095 ');
  });

  test('does not count what a program has read in pieces before it collects lines', async () => {
    await t.run(
      `stty raw -echo; echo ready; head -c 4000 >/dev/null; stty sane; IFS= read -r x; printf %s "$x" > 'line'`,
    );
    await t.host.input(t.ref, { id: `i${++inputs}`, text: 'z'.repeat(3_000), keys: [], enter: false });
    await t.host.input(t.ref, { id: `i${++inputs}`, text: 'z'.repeat(1_000), keys: [], enter: false });
    await t.until({ kind: 'needs_input', from: 0, timeoutMs: 30_000 });
    await type('y'.repeat(4_095));
    await exit();
    expect(readFileSync(join(t.cwd, 'line'), 'utf8')).toHaveLength(4_095);
  });

  test('does not count where there are 200,000 short ones: all of them arrive', async () => {
    await t.run(`head -n 200000 > 'lines'`);
    await type('\n'.repeat(200_000));
    await exit();
    expect(readFileSync(join(t.cwd, 'lines'))).toHaveLength(200_000);
  });

  test('that answers a prompt and is refused leaves the prompt open to another answer', async () => {
    await t.run(`IFS= read -r x; printf %s "$x" > 'line'`);
    const { snapshot } = await t.host.observe(t.ref, { kind: 'needs_input', from: 0, timeoutMs: 30_000 });
    const prompt = { command: snapshot.command?.id ?? '', since: snapshot.waiting?.since ?? '' };
    const answer = (text: string): ReturnType<TestHost['host']['input']> =>
      t.host.input(t.ref, { id: `i${++inputs}`, text, keys: [], prompt });
    await expect(answer('y'.repeat(5_000))).rejects.toMatchObject({ code: 'input_too_long' });
    await answer('short');
    await expect(answer('again')).rejects.toMatchObject({
      code: expect.stringMatching(/prompt_over|no_running_process/) as unknown,
    });
    await exit();
    expect(readFileSync(join(t.cwd, 'line'), 'utf8')).toBe('short');
  });

  test('of 3,000 characters in two bytes each is refused: bytes count', async () => {
    await t.run('read -r x');
    await expect(type('é'.repeat(3_000))).rejects.toMatchObject({ facts: { got: 6_000 } });
    await type('');
    await exit();
  });

  test('of 100 KB arrives whole if the terminal does not collect lines', async () => {
    await t.run(`stty raw -echo; echo ready; head -c 100001 | wc -c > 'count'; stty sane`);
    await type('z'.repeat(100_000));
    await exit();
    expect(readFileSync(join(t.cwd, 'count'), 'utf8').trim()).toBe('100001');
  });

  test.each([
    ['readline', 'IFS= read -e -r -p "" x; printf %s "$x" > line'],
    [
      'a Python REPL',
      `python3 -c "
import readline
open('line', 'w').write(input())"`,
    ],
  ])('of 10 KB arrives whole in %s, which edits the line itself', async (_name, code) => {
    await t.run(code, { yield: { promptMs: 200 } });
    await type('q'.repeat(10_000));
    expect(await exit()).toMatchObject({ exitCode: 0 });
    expect(readFileSync(join(t.cwd, 'line'), 'utf8')).toBe('q'.repeat(10_000));
  });

  test('of exactly the limit, repeatedly in one input, arrives whole each time', async () => {
    await t.run(`for i in 1 2 3 4 5; do IFS= read -r x; printf '%s\\n' "\${#x}"; done > lengths`);
    await type(Array.from({ length: 5 }, () => 'y'.repeat(4_095)).join('\n'));
    await exit();
    expect(readFileSync(join(t.cwd, 'lengths'), 'utf8')).toBe('4095\n'.repeat(5));
  });

  test('among short ones has all of them refused: nothing of the input is typed', async () => {
    await t.run('IFS= read -r x; echo "[$x]"');
    await expect(type(`first\n${'y'.repeat(5_000)}\nlast`)).rejects.toMatchObject({ code: 'input_too_long' });
    await type('only this');
    // What the kernel still had to echo of an earlier test's 20 KB may come before it.
    const { output } = await exit();
    expect(output.endsWith('only this\n[only this]\n')).toBe(true);
    expect(output).not.toMatch(/first|last/);
  });

  test('and another and another: 200 lines of 1 KB to a slow reader arrive whole', async () => {
    const lines = Array.from({ length: 200 }, (_, i) => `${i} ${'w'.repeat(1_000)}`);
    await t.run(`sleep 0.3; for i in {1..200}; do IFS= read -r x; printf '%s\\n' "$x"; done > 'lines'`, {
      yield: { firstOutputMs: 20 },
    });
    await type(lines.join('\n'));
    await exit();
    expect(readFileSync(join(t.cwd, 'lines'), 'utf8')).toBe(`${lines.join('\n')}\n`);
  });
});

test('input that nobody reads is bounded, burns no CPU, and the session can be reset', async () => {
  const ref = otherSession(t, 7);
  await t.run('echo begun; sleep 600', { ref, yield: { betweenOutputMs: 50 } });
  const piece = `${'x'.repeat(1_000)}\n`.repeat(250);
  const outcomes: string[] = [];
  const holder = processesMarked(t.dataDir)
    .find((line) => line.endsWith('test.local.7'))
    ?.split(' ')[0];
  const before = cpuTicks(holder);
  const began = Date.now();
  for (let i = 0; i < 6; i++) {
    outcomes.push(
      await type(piece, [], `big ${i}`, ref).then(
        () => 'taken',
        (err: { code: string }) => err.code,
      ),
    );
  }
  expect(outcomes).toEqual(['taken', 'taken', 'taken', 'taken', 'input_too_long', 'input_too_long']);
  // In a session that no earlier test typed into: the kernel may still echo that.
  expect(await t.run('echo others live', { ref: otherSession(t, 9) })).toMatchObject({
    output: 'others live\n',
  });
  // Clock ticks are 10 ms: less than a fifth of a core.
  expect((cpuTicks(holder) - before) * 10).toBeLessThan((Date.now() - began) / 5);
  await reset(t, ref);
  expect(await t.run('echo next', { ref })).toMatchObject({ output: 'next\n', freshShell: true });
});

test('1 MiB for a program that does not read costs its holder next to no CPU for three seconds', async () => {
  const ref = otherSession(t, 8);
  await t.run('echo begun; sleep 600', { ref, yield: { betweenOutputMs: 50 } });
  for (let n = 0; n < 4; n++) await type(`${'x'.repeat(1_000)}\n`.repeat(250), [], `mib ${n}`, ref);
  const holder = holderOf(t, ref);
  const memory = (): number =>
    Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${holder}/status`, 'utf8'))?.[1]);
  const [ticks, kilobytes] = [cpuTicks(holder), memory()];
  await t.until({ kind: 'exit', from: 0, timeoutMs: 3_000 }, ref);
  // A tick is 10 ms: less than a tenth of a core.
  expect(cpuTicks(holder) - ticks).toBeLessThan(30);
  expect(memory() - kilobytes).toBeLessThan(16_384);
  await type(null, ['ctrl-c'], 'stop it', ref);
  expect(await exit(ref)).toMatchObject({ exitCode: 130 });
  expect(await t.run('echo next', { ref })).toMatchObject({ output: 'next\n', freshShell: false });
});

test('input after the end reaches no file: of host and session none changes by a byte', async () => {
  const ref = otherSession(t, 9);
  await t.run('exec 5> open; cat > typed', { ref });
  await type('before', ['ctrl-d'], 'before', ref);
  await exit(ref);
  const before = contents(t.dataDir, t.cwd);
  for (const end of [':', 'exit 3']) {
    if (end !== ':') await t.run(end, { ref });
    const files = end === ':' ? before : contents(t.dataDir, t.cwd);
    await expect(type('after', ['enter'], `after ${end}`, ref)).rejects.toMatchObject({
      code: 'no_running_process',
    });
    expect(contents(t.dataDir, t.cwd)).toEqual(files);
  }
  expect(readFileSync(join(t.cwd, 'typed'), 'utf8')).toBe('before\n');
});

/** What each plain file below the folders holds. */
function contents(...folders: string[]): Record<string, string> {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return Object.fromEntries(
    files.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}
