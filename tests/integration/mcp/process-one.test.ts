// Holdfast as process 1 of a container without an init (OpenHands/software-agent-sdk#3042).
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import { until } from '../../helpers/until';

const NAMESPACE = ['-Urpf', '--mount-proc', '--kill-child'];
const isPossible = spawnSync('unshare', [...NAMESPACE, 'true']).status === 0;
const BIN = join(packageRoot(), 'bin', 'holdfast.js');
const SCRIPT = join(packageRoot(), 'exec', 'shell', 'process-one.sh');

let folder: string;
const started: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-process-one-'));
});
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

function run(argv: string[]): ChildProcess {
  const child = spawn('unshare', [...NAMESPACE, ...argv], { stdio: ['ignore', 'pipe', 'inherit'] });
  started.push(child);
  return child;
}

/** States and ids of what has this parent. */
const childrenOf = (pid: number): [state: string, pid: number][] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): [string, number][] => {
      try {
        const fields = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
        return Number(fields[1]) === pid ? [[fields[0] ?? '', Number(name)]] : [];
      } catch {
        return [];
      }
    });

(isPossible ? describe : describe.skip)(
  `process 1${isPossible ? '' : ' (not checked: no namespaces here)'}`,
  () => {
    test('the ends of processes whose parents are gone are taken', async () => {
      // Three that outlive their parents for a moment.
      const file = join(folder, 'program.cjs');
      writeFileSync(
        file,
        `const { spawnSync } = require('node:child_process');
      for (let n = 0; n < 3; n++) spawnSync('sh', ['-c', 'sleep 0.1 & exit 1'], { stdio: 'ignore' });
      console.log('ready');
      setInterval(() => undefined, 1_000);`,
      );
      const outer = run(['/bin/sh', SCRIPT, process.execPath, file]);
      await once(outer.stdout ?? outer, 'data');
      const one = childrenOf(outer.pid ?? 0)[0]?.[1] ?? 0;
      // Each of them was a child of process 1 for a moment; only the program is left.
      await until(() => childrenOf(one).length === 1);
      expect(childrenOf(one)[0]?.[0]).not.toBe('Z');
    });

    test('`holdfast` puts a shell in this place, with its own arguments and exit code', () => {
      const argv = [...NAMESPACE, process.execPath, BIN, 'check', '--runtime', 'terminal', '-'];
      const { status, stdout } = spawnSync('unshare', argv, { input: 'rm -rf "/"\n', encoding: 'utf8' });
      expect({ status, stdout }).toEqual({
        status: 1,
        stdout: expect.stringContaining('it removes /') as string,
      });
    });

    test('a signal reaches the program, whose exit code counts', async () => {
      const file = join(folder, 'program.cjs');
      writeFileSync(
        file,
        `process.on('SIGTERM', () => process.exit(7)); console.log(process.pid); setInterval(() => undefined, 1_000);`,
      );
      const outer = run(['/bin/sh', SCRIPT, process.execPath, file]);
      await once(outer.stdout ?? outer, 'data');
      const one = childrenOf(outer.pid ?? 0)[0]?.[1] ?? 0;
      const ended = once(outer, 'exit');
      execFileSync('kill', ['-s', 'TERM', String(one)]);
      expect((await ended)[0]).toBe(7);
    });
  },
);
