// Random steps, checkpoints and rewinds: the files are always those of the checkpoint, and its id says which they are.
import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { count } from '../../helpers/run/long-run';
import { everythingIn, TestWorkspace } from './workspace';

const NAMES = ['a', 'b', 'A', 'c.txt', 'a b', '-x', '.hidden'];
const MODES = [0o644, 0o755, 0o600, 0o700, 0o444, 0o664];

/** The same numbers for the same seed (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

function step(cwd: string, random: (below: number) => number): void {
  const one = <T>(from: readonly T[]): T => from[random(from.length)] as T;
  const path = (): string => join(cwd, ...Array.from({ length: 1 + random(3) }, () => one(NAMES)));
  const target = path();
  const steps: (() => void)[] = [
    () => writeFileSync(target, 'x'.repeat(random(4))),
    () => writeFileSync(target, String(random(1_000)), { mode: one(MODES) }),
    () => appendFileSync(target, 'more'),
    () => mkdirSync(target, { recursive: true }),
    () => symlinkSync(one(['a', '../b', '/nowhere', 'c.txt']), target),
    () => rmSync(target, { recursive: true }),
    () => renameSync(target, path()),
    () => {
      if (!lstatSync(target).isSymbolicLink())
        chmodSync(target, one(MODES) | (lstatSync(target).isDirectory() ? 0o100 : 0));
    },
    () => {
      rmSync(target, { recursive: true, force: true });
      mkdirSync(join(target, one(NAMES)), { recursive: true });
    },
    () => {
      rmSync(target, { recursive: true, force: true });
      writeFileSync(target, 'a file again');
    },
  ];
  try {
    one(steps)();
  } catch {
    // Many are not possible: a folder on the way is a file, for instance.
  }
}

async function run(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const work = new TestWorkspace();
  try {
    const states = new Map<string, string>();
    for (let round = 0; round < 12; round++) {
      for (let n = random(9); n >= 0; n--) step(work.cwd, random);
      const files = JSON.stringify(everythingIn(work.cwd));
      const { hash } = await work.checkpoint();
      const same = [...states].find(([, known]) => known === files)?.[0] ?? hash;
      expect({ seed, round, hash }).toEqual({ seed, round, hash: same });
      expect({ seed, round, files: states.get(hash) ?? files }).toEqual({ seed, round, files });
      states.set(hash, files);
      if (random(2) === 0) continue;
      const [to = '', then = ''] = [...states][random(states.size)] ?? [];
      await work.rewind(to, { expected: hash });
      expect({ seed, round, files: JSON.stringify(everythingIn(work.cwd)) }).toEqual({
        seed,
        round,
        files: then,
      });
    }
  } finally {
    work.end();
  }
}

test('after any steps a rewind to any checkpoint restores its files, and equal files have equal ids', async () => {
  const first = Number(process.env.SEED ?? 1);
  for (let seed = first; seed < first + count(8, 200); seed++) await run(seed);
}, 900_000);
