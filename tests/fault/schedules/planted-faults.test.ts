// A real run with planted faults: what the check finds in planted histories, the recorder finds in the world.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { sessionPaths } from '../../../exec/session-paths';
import { violationsOf } from './history';
import { runSchedule } from './run-schedule';
import type { Schedule } from './schedule';

const SCHEDULE: Schedule = {
  seed: 0,
  faults: [],
  workers: [
    {
      kind: 'session',
      id: 'w0',
      steps: [
        { kind: 'print', id: 'w0.cut', lines: 300 },
        { kind: 'script', id: 'w0.script', calls: ['once', 'twice', 'never'], callMs: 0 },
      ],
    },
    {
      kind: 'agent',
      id: 'w1',
      steps: [{ kind: 'tool', id: 'never-again', tool: 'effect_once', ms: 0 }],
      child: [],
    },
  ],
};

let process: ChildProcess | undefined;
afterEach(async () => {
  process?.kill('SIGKILL');
  if (process?.exitCode === null && process.signalCode === null) await once(process, 'exit');
});

test('an effect that a tool has twice or tells and has not, a line cut from a log and a process left behind are found', async () => {
  const { history } = await runSchedule(SCHEDULE, ({ dataDir, folder }) => {
    const { log } = sessionPaths(dataDir, { agent: 'w0', host: 'local', session: 0 });
    // As long as before: the log itself would find out that it has become shorter.
    writeFileSync(log, readFileSync(log, 'latin1').replace('w0.cut 17\r\n', 'w0.cut 1x\r\n'), 'latin1');
    process = spawn('sleep', ['1000'], { cwd: folder, stdio: 'ignore' });
  });
  expect(
    violationsOf(history)
      .map(({ rule, what }) => `${rule}: ${what}`)
      .sort(),
  ).toEqual([
    expect.stringMatching(/^effect twice: twice: 2 times, told done/),
    expect.stringMatching(/^left over: \d+ sleep 1000/),
    expect.stringMatching(/^log lines missing or repeated: w0.cut: 299 of 300 lines, at 16: 15 16 18 19/),
    expect.stringMatching(/^told effect missing: never-again: 0 times, told done/),
    expect.stringMatching(/^told effect missing: never: 0 times, told done/),
  ]);
}, 120_000);
