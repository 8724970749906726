// Checkpoints of workspaces against git itself on the same tree, in turn: what a step costs beside its command.
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WITHOUT_LIMITS } from '../../contracts/workspaces/file-reach';
import { DEFAULT_CHECKPOINTS } from '../../contracts/workspaces/settings';
import { Workspaces } from '../../workspaces/workspaces';
import { below, explaining, inTurn, plain, timed, type Row } from '../measure';
import type { Bench } from '../setting';

const ROUNDS = 15;
const FILES_IN_A_FOLDER = 40;
/** Files are looked at again for two seconds after they changed. */
const SETTLED_MS = 2_500;

interface Tree {
  name: string;
  files: number;
  bytes: number;
  /** The target of the issue for one changed file. */
  limitMs: number;
}

const TREES: readonly Tree[] = [
  { name: '5,000 files of 100 MB', files: 5_000, bytes: 20_000, limitMs: 60 },
  { name: '100,000 files of 30 MB', files: 100_000, bytes: 300, limitMs: 500 },
];

export async function checkpoints({ dataDir }: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  for (const tree of TREES) {
    const folder = join(dataDir, 'bench-checkpoints');
    rows.push(...(await ofTree(tree, folder)));
    rmSync(folder, { recursive: true });
  }
  return rows;
}

async function ofTree({ name, files, bytes, limitMs }: Tree, folder: string): Promise<Row[]> {
  const cwd = join(folder, 'work');
  makeTree(cwd, files, bytes);
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd, stdio: 'ignore' });
  git('init', '-q');
  const workspaces = new Workspaces({
    folder: join(folder, 'store'),
    settings: DEFAULT_CHECKPOINTS,
    reachOf: () => WITHOUT_LIMITS,
    log: (message, facts) => process.stderr.write(`${message} ${JSON.stringify(facts)}\n`),
  });
  const take = async (): Promise<void> => {
    const { state } = await workspaces.checkpoint({ cwd, agent: 'bench' });
    if (state !== 'kept') throw new Error(`no checkpoint: ${state}`);
  };
  const first = { ours: await timed(take), base: await timed(async () => git('add', '-A')) };
  await delay(SETTLED_MS);
  await take();
  let changed = 0;
  const change = (): void => appendFileSync(join(cwd, pathOf((changed += 7))), 'one more line\n');
  const afterChange = (work: () => Promise<void>) => (): Promise<number> => (change(), timed(work));
  const status = async (): Promise<void> => git('status', '--porcelain');
  const written = async (): Promise<void> => (git('add', '-A'), git('write-tree'));
  const one = await inTurn(ROUNDS, afterChange(take), afterChange(written));
  const beside = await inTurn(ROUNDS, afterChange(take), afterChange(status));
  await delay(SETTLED_MS);
  await take();
  const nothing = await inTurn(
    ROUNDS,
    () => timed(take),
    () => timed(status),
  );
  return [
    below(`checkpoint of ${name}, one changed`, one.ours, 'ms', limitMs),
    explaining('- the same / `git add -A` and `git write-tree`', one),
    explaining('- the same / `git status`', beside),
    explaining('- nothing changed / `git status`', nothing),
    explaining('- the first one / the first `git add -A`', first),
    plain('- the store then', workspaces.bytes() / 1e6, 'MB'),
  ];
}

const pathOf = (number: number): string =>
  join(
    `d${Math.floor(number / FILES_IN_A_FOLDER) % 100}`,
    `e${Math.floor(number / FILES_IN_A_FOLDER / 100)}`,
    `f${number}.txt`,
  );

/** Texts, of which no two are alike. */
function makeTree(cwd: string, files: number, bytes: number): void {
  for (let number = 0; number < files; number++) {
    if (number % FILES_IN_A_FOLDER === 0) mkdirSync(join(cwd, pathOf(number), '..'), { recursive: true });
    const line = `line of file ${number}\n`;
    writeFileSync(join(cwd, pathOf(number)), line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes));
  }
}
