// What the doctor says about releases that differ from its own.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildsOf, checkHostReleases, checkTerminalReleases } from '../../../cli/doctor/check-releases';
import type { HostState } from '../../../contracts/schemas/remote-hosts';
import { HolderConnections } from '../../../exec/client/holder-connections';
import { PROTOCOL_VERSION } from '../../../exec/protocol';
import { sessionPaths } from '../../../exec/session-paths';
import { writeJson } from '../../../system/json-file';
import { ownRelease, packageVersion } from '../../../system/package-root';
import { identityOf } from '../../../system/processes/process-identity';

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'holdfast-doctor-'))));
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const OTHER = { version: '9.0.0', folder: '/opt/other' };
const refOf = (session: number) => ({ agent: 'a', host: 'local', session });

function holder(session: number, release: object, version = PROTOCOL_VERSION): void {
  const paths = sessionPaths(dataDir, refOf(session));
  mkdirSync(paths.directory, { recursive: true });
  const socketPath = join(dataDir, 'none');
  writeJson(paths.holder, { identity: identityOf(process.pid), socketPath, token: 't', version, release });
}

test('terminals of other releases are counted by release, and need nothing', () => {
  holder(1, ownRelease());
  expect(checkTerminalReleases(dataDir)).toEqual({ status: 'ok', found: '1 open, all of this release' });
  holder(2, OTHER);
  expect(checkTerminalReleases(dataDir)).toMatchObject({
    status: 'ok',
    found: '1 of 2 open are of other releases: 1 of 9.0.0 in /opt/other',
    next: expect.stringContaining('holdfast close') as string,
  });
});

test('a terminal of a later protocol is refused with the release to go on with, and the doctor names it', async () => {
  holder(1, OTHER, PROTOCOL_VERSION + 1);
  const connections = new HolderConnections(dataDir);
  await expect(connections.ask(refOf(1), 'status', {})).rejects.toMatchObject({
    code: 'session_unreachable',
    message: expect.stringContaining(
      `of release 9.0.0 in /opt/other, and speaks protocol ${PROTOCOL_VERSION + 1}`,
    ) as string,
    next: expect.stringContaining('Go on with the worker of its release') as string,
  });
  expect(checkTerminalReleases(dataDir)).toMatchObject({
    status: 'fail',
    next: expect.stringContaining('9.0.0 in /opt/other') as string,
  });
});

const host = (name: string, version: string, protocol = 1): HostState =>
  ({ host: name, status: 'online', facts: { version, protocol } }) as HostState;

test.each([
  ['of this release', [host('pi', packageVersion())], 'ok', undefined],
  ['of another release', [host('pi', '9.0.0')], 'warn', 'holdfast host serve pi'],
  ['of another protocol', [host('pi', '9.0.0', 2)], 'fail', 'the same release on pi'],
])('an online host %s: %s', (_which, hosts, status, next) => {
  const found = checkHostReleases(hosts);
  expect(found).toMatchObject({ status });
  expect(found?.next ?? '').toContain(next ?? '');
});

const workers = (...builds: (string | null)[]) =>
  builds.map((buildId) => ({ offer: '0123456789ab', buildId }));

test.each([
  ['one build, which is current', buildsOf({ others: workers('1-a', '1-a'), currentBuild: '1-a' }), 'ok'],
  ['two builds', buildsOf({ others: workers('1-a', '2-b'), currentBuild: '2-b' }), 'warn'],
  ['another build than the current', buildsOf({ others: workers('1-a'), currentBuild: '2-b' }), 'fail'],
  [
    'a release without builds, beside one with',
    buildsOf({ others: workers(null), currentBuild: '2-b' }),
    'fail',
  ],
  ['only releases without builds', buildsOf({ others: workers(null), currentBuild: null }), 'ok'],
])('workers of %s', (_which, found, status) => {
  expect(found).toMatchObject({ status });
  expect(found?.next === undefined).toBe(status === 'ok');
});

test('workers are counted by build', () => {
  expect(buildsOf({ others: workers('1-a', null, '1-a'), currentBuild: '1-a' })?.found).toBe(
    '2 of 1-a, 1 of no build; current is 1-a',
  );
});
