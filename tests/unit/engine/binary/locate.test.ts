import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { locateServerBinary, type LocateOptions, type ServerBinary } from '../../../../engine/binary/locate';
import { TEMPORAL_CLI_VERSION } from '../../../../engine/binary/pinned';
import { identityOf, isAlive } from '../../../../system/processes/process-identity';
import { until } from '../../../helpers/until';

let folder: string;
let cacheDir: string;
let cached: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'locate-'));
  cacheDir = join(folder, 'cache');
  cached = join(cacheDir, `temporal-${TEMPORAL_CLI_VERSION}`, 'temporal');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const cli = (server: string): string => `echo 'temporal version 0.0.0-DEV (Server ${server}, UI 2.50.1)'`;

/** Writes an executable; returns its path. */
function executable(path: string, script: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

const onPath = (name: string, script: string): string => executable(join(folder, 'bin', name), script);

/** A `go` that notes each build, and "builds" a CLI by `build`, which finds the output's path in $out. */
function fakeGo(build: string): void {
  onPath(
    'go',
    `case $1 in
      list) printf 'a\\nb\\nmain\\n' ;;
      build) echo build >> '${folder}/builds'; while [ "$1" != -o ]; do shift; done; out=$2; ${build} ;;
    esac`,
  );
}
const GOOD_BUILD = `echo compiling >&2; printf '#!/bin/sh\\n%s\\n' "${cli('1.31.2')}" > "$out"; chmod +x "$out"`;

function locate(options: Partial<LocateOptions> = {}): Promise<ServerBinary> {
  const env = { PATH: `${folder}/bin:/usr/bin:/bin`, HOLDFAST_NO_DOWNLOAD: '1', ...options.env };
  return locateServerBinary({ cacheDir, progress: () => undefined, ...options, env });
}

const partials = (): string[] => readdirSync(cacheDir).filter((name) => name.startsWith('partial-'));

test('HOLDFAST_TEMPORAL_CLI wins over PATH, PATH over the cache', async () => {
  const named = executable(join(folder, 'named'), cli('1.33.0'));
  const installed = onPath('temporal', cli('1.32.0'));
  executable(cached, cli('1.31.2'));
  expect(await locate({ env: { HOLDFAST_TEMPORAL_CLI: named } })).toEqual({
    path: named,
    source: 'env',
    version: '1.33.0',
  });
  expect(await locate()).toEqual({ path: installed, source: 'path', version: '1.32.0' });
  rmSync(installed);
  expect(await locate()).toEqual({ path: cached, source: 'cache', version: '1.31.2' });
});

test('a CLI on PATH with a server that is too old is skipped', async () => {
  onPath('temporal', cli('1.9.3'));
  executable(cached, cli('1.31.2'));
  expect((await locate()).source).toBe('cache');
});

test('a file named by HOLDFAST_TEMPORAL_CLI that cannot be used is an error, and nothing else is taken', async () => {
  onPath('temporal', cli('1.32.0'));
  const other = executable(join(folder, 'other'), 'echo hello');
  await expect(locate({ env: { HOLDFAST_TEMPORAL_CLI: other } })).rejects.toMatchObject({
    code: 'engine_missing',
    facts: {
      reason: expect.stringMatching(/^HOLDFAST_TEMPORAL_CLI: .*other is not a Temporal CLI/) as string,
    },
  });
});

test('without any way the error lists each one and why it failed', async () => {
  fakeGo('echo no network >&2; exit 1');
  const failure = (await locate().catch((err: unknown) => err)) as {
    code: string;
    facts: { reason: string };
  };
  expect(failure.code).toBe('engine_missing');
  expect(failure.facts.reason).toMatch(
    /PATH: .*; cache: .*; download: .*HOLDFAST_NO_DOWNLOAD.*; build: .*no network/,
  );
  expect(partials()).toEqual([]);
  expect(existsSync(cached)).toBe(false);
});

test('a build lands in the cache as a whole and is found there the next time', async () => {
  fakeGo(GOOD_BUILD);
  expect(await locate()).toEqual({ path: cached, source: 'build', version: '1.31.2' });
  expect(partials()).toEqual([]);
  expect((await locate()).source).toBe('cache');
});

test('of two that need a build at once one builds and the other finds the result', async () => {
  fakeGo(GOOD_BUILD);
  const found = await Promise.all([locate(), locate()]);
  expect(found.map(({ source }) => source).sort()).toEqual(['build', 'cache']);
  expect(readFileSync(join(folder, 'builds'), 'utf8')).toBe('build\n');
});

test('a damaged file in the cache is replaced; what a killed build left is removed, another version’s build is not', async () => {
  executable(cached, 'exit 1');
  mkdirSync(join(cacheDir, 'partial-0.0.1-abc'));
  executable(join(cacheDir, `partial-${TEMPORAL_CLI_VERSION}-abc`, 'temporal'), 'half a file');
  fakeGo(GOOD_BUILD);
  expect((await locate()).source).toBe('build');
  expect(partials()).toEqual(['partial-0.0.1-abc']);
});

test('an executable that is not a Temporal CLI does not get into the cache', async () => {
  fakeGo(`printf '#!/bin/sh\\necho hello\\n' > "$out"; chmod +x "$out"`);
  await expect(locate()).rejects.toMatchObject({ code: 'engine_missing' });
  expect(existsSync(cached)).toBe(false);
});

test('an abort kills the build with its children and leaves no partial file', async () => {
  // Written by the shell before it waits: the abort comes while both processes run.
  const pidsFile = join(folder, 'pids');
  fakeGo(
    `echo half > "$out"; sleep 600 & echo "$$ $!" > '${pidsFile}.new'; mv '${pidsFile}.new' '${pidsFile}'; wait`,
  );
  const abort = new AbortController();
  const located = locate({ signal: abort.signal });
  located.catch(() => undefined);
  await until(() => existsSync(pidsFile));
  const processes = readFileSync(pidsFile, 'utf8').trim().split(' ').map(Number).map(identityOf);
  expect(processes.map(isAlive)).toEqual([true, true]);
  abort.abort(new Error('Ctrl-C'));
  await expect(located).rejects.toThrow('Ctrl-C');
  expect(processes.map(isAlive)).toEqual([false, false]);
  expect(partials()).toEqual([]);
  expect(existsSync(cached)).toBe(false);
});
