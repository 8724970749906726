// The time-skipping test server: the vendor's download or, if that is unreachable, a Maven build of the same, kept in
// Holdfast's cache.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { DataConverter } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { defaultCacheDir } from '../system/data-dir';
import { withLock } from '../system/lock';
import { startPatiently } from './start-patiently';

const VERSION = '1.32.1';
/** The version that the server itself uses. Without a logger it prints warnings. */
const SLF4J = '1.7.36';
const DOWNLOAD_MS = 20_000;
const MAVEN_MS = 300_000;
const ARCHIVE_MS = 120_000;
const LOOK_MS = 100;
const PROGRAM = 'temporal-test-server';
/** Instead of a path: the vendor's program, which the SDK manages itself. */
const VENDORS = 'vendor';

const run = promisify(execFile);

/**
 * Finds or gets the server, once for many tests: put `server` into HOLDFAST_TEST_SERVER, and other processes skip the
 * search. `missing` says why there is none, for the names of skipped tests.
 */
export async function findTestServer(
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ server: string } | { missing: string }> {
  try {
    const { server, started } = await obtain(env);
    await started?.teardown();
    return { server };
  } catch (err) {
    return { missing: err instanceof HoldfastError ? String(err.facts.reason) : reasonOf(err) };
  }
}

/** Throws `test_server_missing`, which lists every way that was tried. */
export async function startTestServer(
  env: NodeJS.ProcessEnv = process.env,
  dataConverter?: DataConverter,
): Promise<TestWorkflowEnvironment> {
  const { server, started } = await obtain(env);
  if (started && !dataConverter) return started;
  // Found by starting it, for a client without our converter.
  await started?.teardown();
  return start(server, dataConverter);
}

interface Obtained {
  server: string;
  /** Set if finding it meant starting it. */
  started?: TestWorkflowEnvironment;
}

async function obtain(env: NodeJS.ProcessEnv): Promise<Obtained> {
  if (env.HOLDFAST_TEST_SERVER) return { server: env.HOLDFAST_TEST_SERVER };
  const folder = join(defaultCacheDir(env), `temporal-test-server-${VERSION}`);
  const server = join(folder, PROGRAM);
  if (existsSync(server)) return { server };
  const missing = (reason: string): never => {
    throw new HoldfastError('test_server_missing', { reason });
  };
  if (env.HOLDFAST_NO_DOWNLOAD && env.HOLDFAST_NO_DOWNLOAD !== '0')
    return missing(`no ${server}; downloads are switched off by HOLDFAST_NO_DOWNLOAD.`);
  try {
    return { server: VENDORS, started: await inTime(start(VENDORS)) };
  } catch (download) {
    try {
      await withLock(`${folder}.lock`, async () => {
        if (existsSync(folder)) return;
        await buildWithMaven(folder);
        await archiveClasses(folder);
      });
      return { server };
    } catch (err) {
      const maven = reasonOf(err).split('\n')[0];
      return missing(`the vendor's download: ${reasonOf(download)}; Maven: ${maven}.`);
    }
  }
}

async function start(server: string, dataConverter?: DataConverter): Promise<TestWorkflowEnvironment> {
  const client = dataConverter && { client: { dataConverter } };
  if (server === VENDORS) return TestWorkflowEnvironment.createTimeSkipping({ ...client });
  const executable = { type: 'existing-path', path: server } as const;
  return startPatiently(() =>
    TestWorkflowEnvironment.createTimeSkipping({ ...client, server: { executable } }),
  );
}

/** A network that drops packets must not hold up a test; a late download is stopped. */
async function inTime(starting: Promise<TestWorkflowEnvironment>): Promise<TestWorkflowEnvironment> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), DOWNLOAD_MS).unref());
  const first = await Promise.race([starting, late]);
  if (first) return first;
  starting.then(
    (environment) => environment.teardown(),
    () => undefined,
  );
  throw new Error(`no answer within ${DOWNLOAD_MS} ms`);
}

/** Call while holding the lock. */
async function buildWithMaven(folder: string): Promise<void> {
  const partial = mkdtempSync(`${folder}.partial-`);
  try {
    writeFileSync(
      join(partial, 'pom.xml'),
      `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
       <groupId>holdfast</groupId><artifactId>test-server</artifactId><version>1</version>
       <dependencies><dependency><groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId>
       <version>${VERSION}</version></dependency><dependency><groupId>org.slf4j</groupId>
       <artifactId>slf4j-nop</artifactId><version>${SLF4J}</version></dependency></dependencies></project>`,
    );
    const args = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=jars'];
    await run('mvn', args, { cwd: partial, timeout: MAVEN_MS });
    writeProgram(
      join(partial, PROGRAM),
      '[ -e "$here/classes" ] && share=-XX:SharedArchiveFile=$here/classes',
    );
    renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/** Java loads the server's classes from an archive of them with less than half of the work; without one it starts, too. */
async function archiveClasses(folder: string): Promise<void> {
  const program = join(folder, 'archive-classes');
  try {
    writeProgram(program, 'share=-XX:ArchiveClassesAtExit=$here/classes.partial');
    await runOnce(program);
    renameSync(join(folder, 'classes.partial'), join(folder, 'classes'));
  } catch {
    // It only saves time.
  } finally {
    rmSync(program, { force: true });
  }
}

/** Ends it with SIGTERM, at which Java writes the archive; the SDK kills its servers. */
async function runOnce(program: string): Promise<void> {
  const door = createServer().listen(0, '127.0.0.1');
  await once(door, 'listening');
  const { port } = door.address() as AddressInfo;
  await new Promise((resolve) => door.close(resolve));
  const server = spawn(program, [String(port)], { stdio: 'ignore', timeout: ARCHIVE_MS });
  let isOver = false;
  const over = (): boolean => (isOver = true);
  // One that cannot be run at all has an error instead of an exit.
  const ended = once(server, 'exit').then(over, over);
  while (!isOver && !(await accepts(port))) await delay(LOOK_MS);
  server.kill('SIGTERM');
  await ended;
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });

/** `share`: a line of the shell that sets what Java gets of an archive in the program's folder, `$here`. */
function writeProgram(path: string, share: string): void {
  const java = 'exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC ${share:+"$share"}';
  const lines = [
    '#!/bin/sh',
    'here=$(dirname "$0")',
    share,
    `${java} -cp "$here/jars/*" io.temporal.testserver.TestServer "$@"`,
  ];
  writeFileSync(path, `${lines.join('\n')}\n`);
  chmodSync(path, 0o755);
}
