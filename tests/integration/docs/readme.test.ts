// The README's program, pasted and run.
import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import { README_FILE, README_OUTPUT, readmeProgram } from '../../helpers/docs/readme-program';
import type { CliResult } from '../../helpers/engines/command-lines';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';

/** Below the package, so that its name leads to itself, as in a clone. */
const FOLDER = join(packageRoot(), 'dist', 'doc-readme');

const engine = new EngineOfItsOwn();
beforeAll(async () => {
  mkdirSync(FOLDER, { recursive: true });
  await engine.start();
}, 60_000);
afterAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true });
  expect(await engine.end()).toEqual([]);
}, 60_000);

function run(): Promise<CliResult> {
  const env = { ...process.env, TEMPORAL_ADDRESS: engine.server().address };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [README_FILE], { cwd: FOLDER, env }, (_err, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

test('the README’s program answers the prompt, gets the agent’s answer and ends; so it does a second time', async () => {
  writeFileSync(join(FOLDER, README_FILE), readmeProgram());
  const ran = { code: 0, stdout: README_OUTPUT, stderr: '' };
  expect(await run()).toEqual(ran);
  expect(await run()).toEqual(ran);
}, 60_000);
