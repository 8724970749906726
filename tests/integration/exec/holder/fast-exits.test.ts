// S13: the log has all output of a program that exits fast, whether only the program ends or the shell with it.
import { count } from '../../../helpers/run/long-run';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace, logOf, otherSession } from '../session-processes';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => endWithoutTrace(t));

/** Runs a program that prints so many bytes and exits, `times` times over four sessions; returns what was wrong. */
async function exits(times: number, bytes: number, isLast: (n: number) => boolean): Promise<string[]> {
  const wrong: string[] = [];
  const session = async (number: number): Promise<void> => {
    const ref = otherSession(t, number);
    for (let n = number; n < times; n += 4) {
      const letter = String.fromCharCode(97 + (n % 26));
      const print = `head -c ${bytes} /dev/zero | tr '\\0' ${letter}`;
      const view = await t.run(isLast(n) ? `${print}; exit 3` : `${print}; (exit 3)`, { ref });
      const got = logOf(t, ref).subarray(view.from, view.to);
      if (view.exitCode !== 3 || !got.equals(Buffer.alloc(bytes, letter)))
        wrong.push(`${n}: ${got.length} of ${bytes}, ${view.exitCode}`);
    }
  };
  await Promise.all([0, 1, 2, 3].map(session));
  return wrong;
}

test('no byte of hundreds of fast exits of 20 KB is missing, every tenth of them the shell’s own', async () => {
  expect(await exits(count(100, 3_000), 20_000, (n) => n % 10 === 9)).toEqual([]);
}, 120_000);

test('no byte of many fast exits of 1 MB is missing, every fifth of them the shell’s own', async () => {
  expect(await exits(count(15, 300), 1_048_576, (n) => n % 5 === 4)).toEqual([]);
}, 120_000);
