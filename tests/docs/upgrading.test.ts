// The commands of docs/upgrading.md, run with the previous release and this one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../system/package-root';
import { runningWorker } from '../../workers/process/worker-record';
import { docBlocks } from '../helpers/docs/doc-blocks';
import { endDataFolder } from '../helpers/engines/end-data-folder';
import { EngineOfItsOwn } from '../helpers/engines/engine-of-its-own';
import { isLongRun } from '../helpers/run/long-run';
import {
  buildPrevious,
  isPreviousBuilt,
  noPrevious,
  previousBin,
} from '../helpers/releases/previous-release';
import { QUICK_YIELD } from '../helpers/engines/temporal';

const OWN_BIN = join(packageRoot(), 'bin', 'holdfast.js');
const missing = noPrevious() ?? (isLongRun || isPreviousBuilt() ? undefined : 'it is built in the long run');
const testIt = missing === undefined ? test : test.skip;

const engine = new EngineOfItsOwn({ ownServer: true });
const second = mkdtempSync(join(tmpdir(), 'holdfast-second-'));
let address: string;

beforeAll(async () => {
  if (missing !== undefined) return;
  await buildPrevious();
  await engine.startServer();
  await engine.connect();
  address = engine.server().address;
}, 600_000);
afterAll(async () => {
  await endDataFolder(second);
  expect(await engine.end()).toEqual([]);
  rmSync(second, { recursive: true, force: true });
}, 60_000);

/** Runs the first block below the heading; `npm install` stands for a change from one release to the other. */
async function follow(
  title: string,
  before: string,
  after: string,
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const block = docBlocks('upgrading.md').find((one) => one.title === title && one.language === 'sh');
  if (!block) throw new Error(`no commands below ${title}`);
  let bin = before;
  for (const line of block.code.trim().split('\n')) {
    const [program, name, ...args] = line.replace('temporal.example:7233', address).split(' ');
    if (program === 'npm') bin = after;
    else {
      expect([program, name]).toEqual(['npx', 'holdfast']);
      const { code, stdout, stderr } = await engine.cli(args, { bin, env });
      if (code !== 0) throw new Error(`${line}: ${code}\n${stdout}\n${stderr}`);
    }
  }
  expect(bin).toBe(after);
}

const folderOf = (dataDir: string): string | undefined => runningWorker(dataDir)?.release?.folder;
const [OWN, PREVIOUS] = [join(OWN_BIN, '..', '..'), join(previousBin, '..', '..')];

testIt(
  'the upgrade of one machine and of a team, and the way back: a command that waits is answered each time',
  async () => {
    await engine.cli(['up'], { bin: previousBin });
    const session = engine.client.session({ agent: 'waits', session: 0 }, { yield: QUICK_YIELD });
    const code = 'while read -r line && [ "$line" != end ]; do echo "got $line"; done';
    await session.exec({ code });
    const answers = async (line: string): Promise<void> =>
      expect((await session.input({ keyboard: line })).output).toContain(`got ${line}`);
    await follow('One machine', previousBin, OWN_BIN);
    expect(folderOf(engine.dataDir)).toBe(OWN);
    await answers('after the upgrade');
    await follow('A team', previousBin, OWN_BIN, { HOLDFAST_DATA: second });
    expect(folderOf(second)).toBe(OWN);
    await answers('with a team');
    await endDataFolder(second);
    await follow('Going back', OWN_BIN, previousBin);
    expect(folderOf(engine.dataDir)).toBe(PREVIOUS);
    await answers('after going back');
    expect(await session.input({ keyboard: 'end' })).toMatchObject({ state: 'exited', exitCode: 0 });
    await session.close('the test');
  },
  180_000,
);
