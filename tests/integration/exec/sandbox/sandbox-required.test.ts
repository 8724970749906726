// X4: a required sandbox is there, or nothing runs; its limits apply.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import {
  limitsProcesses,
  NO_SANDBOX,
  openSandbox,
  type SandboxChoice,
} from '../../../../exec/sandbox/open-sandbox';
import { real } from '../../../../exec/real-path';
import type { SandboxProfile } from '../../../../exec/sandbox/profile';
import { SessionHost } from '../../../../exec/host/session-host';
import { noSandbox, sandboxOf } from '../../../helpers/hosts/sandbox';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { endWithoutTrace } from '../session-processes';

const PATH = process.env.PATH;
let folder: string;
/** The workspace is next to it. */
let bin: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-required-'));
  bin = join(folder, 'bin');
  for (const name of ['bin', 'work']) mkdirSync(join(folder, name));
});
afterEach(() => {
  process.env.PATH = PATH;
  rmSync(folder, { recursive: true });
});

const open = (choice: Partial<SandboxChoice>, warned: string[] = []): Promise<SandboxProfile | undefined> =>
  openSandbox(
    { ...NO_SANDBOX, ...choice },
    { workspace: join(folder, 'work'), home: homedir(), dataDir: join(folder, 'data') },
    (reason) => warned.push(reason),
  );
const program = (at: string, name: string, code: string): void =>
  writeFileSync(join(at, name), `#!/bin/sh\n${code}\n`, { mode: 0o755 });

async function errorOf(work: () => Promise<unknown>): Promise<HoldfastError> {
  try {
    await work();
  } catch (err) {
    if (err instanceof HoldfastError) return err;
    throw err;
  }
  throw new Error('it did not fail');
}

test('a required sandbox that is not installed is an error that says what was looked for and what to do', async () => {
  process.env.PATH = bin;
  const error = await errorOf(() => open({ mode: 'required' }));
  expect(error).toMatchObject({ code: 'sandbox_missing', retryable: false });
  expect(error.message).toMatch(
    /no program bwrap on the PATH; nothing was started. Next: Install bubblewrap/,
  );
});

test('a required sandbox that the system refuses is an error with what bwrap said', async () => {
  program(bin, 'bwrap', 'echo "No permissions to create new namespace" >&2; exit 1');
  process.env.PATH = `${bin}:${PATH}`;
  const error = await errorOf(() => open({ mode: 'required' }));
  expect(error.code).toBe('sandbox_missing');
  expect(error.message).toContain(`(${bin}/bwrap) failed: No permissions to create new namespace`);
});

test('a missing preferred sandbox causes a warning, and one that is off is not looked for', async () => {
  process.env.PATH = bin;
  const warned: string[] = [];
  expect(await open({ mode: 'prefer' }, warned)).toBeUndefined();
  expect(warned).toEqual([expect.stringContaining('no program bwrap')]);
  expect(await open({ mode: 'off' }, warned)).toBeUndefined();
  expect(warned).toHaveLength(1);
});

test('a program that is found only where the sandbox can write is refused, with both named', async () => {
  const planted = join(folder, 'work', '.venv', 'bin');
  mkdirSync(planted, { recursive: true });
  program(planted, 'mkfifo', 'exit 0');
  program(bin, 'bwrap', 'exit 0');
  process.env.PATH = `${planted}:${bin}`;
  // Even if one is only preferred: nothing continues without it.
  for (const mode of ['required', 'prefer'] as const) {
    const error = await errorOf(() => open({ mode }));
    expect(error.code).toBe('config_invalid');
    expect(error.message).toContain(
      `mkfifo is found only as ${planted}/mkfifo, which code in the sandbox can change: it lies in ${folder}/work`,
    );
  }
});

const missing = noSandbox();
const whereSandboxed = missing === undefined ? describe : describe.skip;

whereSandboxed(`with bubblewrap${missing === undefined ? '' : ` (not checked: ${missing})`}`, () => {
  let t: TestHost;
  beforeEach(
    () => (t = testHost({ sandbox: { limits: { cpuSec: 1, fileMb: 1, openFiles: 32, memoryMb: 256 } } })),
  );
  afterEach(() => endWithoutTrace(t));

  test('a folder that holds the home folder may not be writable', async () => {
    const error = await errorOf(() => open({ mode: 'required', writable: ['/'] }));
    expect(error.code).toBe('config_invalid');
    expect(error.message).toContain(`${real(homedir())} lies in it`);
  });

  test('a required sandbox that cannot reach its named hosts is an error that says why', async () => {
    const { programs } = sandboxOf({}, { cwd: t.cwd, dataDir: t.dataDir });
    for (const name of ['bwrap', 'mkfifo', 'stty'] as const) symlinkSync(programs[name], join(bin, name));
    process.env.PATH = bin;
    const error = await errorOf(() => open({ mode: 'required', network: ['pypi.org'] }));
    expect(error.code).toBe('sandbox_missing');
    expect(error.message).toContain('no program nsenter (util-linux) on the PATH');
  });

  test('time, files and memory of a process are limited', async () => {
    expect(await t.run('ulimit -t -n; ulimit -f -d')).toMatchObject({
      output: expect.stringMatching(/\b1\n[^]*\b32\n[^]*\b1024\n[^]*\b262144\n/) as string,
    });
    expect(await t.run('head -c 2000000 /dev/zero > big')).toMatchObject({ exitCode: 153 });
    expect(await t.run('python3 -c "bytearray(2**29)"')).toMatchObject({ exitCode: 1 });
    expect(await t.run('while :; do :; done & wait $!')).toMatchObject({ exitCode: 137 });
  });

  test('whether the number of processes is limited is found by trying', () => {
    const profile = sandboxOf({}, { cwd: t.cwd, dataDir: t.dataDir });
    // The kernel does not count root's.
    expect(limitsProcesses(profile)).toBe(process.getuid?.() !== 0);
  });

  test('sessions opened under another profile are ended by a host that requires a sandbox', async () => {
    await t.run('true');
    const free = new SessionHost({ ...t.host.options, sandbox: undefined });
    const [mine, other] = [t.ref, { ...t.ref, session: 1 }];
    await free.run(other, { id: 'free', runtime: 'terminal', code: 'true' });
    await t.host.closeOtherwiseConfined('local', 'it is not confined');
    expect([t.host.isOpen(mine), t.host.isOpen(other)]).toEqual([true, false]);
    free.detach();
  });
});
