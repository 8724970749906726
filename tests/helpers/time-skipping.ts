// The time-skipping test server: the vendor's download, or Maven's build of the same where that cannot be
// reached, kept in Holdfast's cache.
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { defaultCacheDir } from '../../engine/data-dir';

const VERSION = '1.32.1';
const run = promisify(execFile);
const DOWNLOAD_MS = 20_000;
const MAVEN_MS = 300_000;
/** In place of a path: the vendor's program, which the SDK keeps itself. */
const VENDORS = 'vendor';

/** Finds or gets the server once for the whole run. What it returns goes to the tests by environment. */
export async function locateTestServer(): Promise<{ server: string } | { missing: string }> {
  const folder = join(defaultCacheDir(process.env), `temporal-test-server-${VERSION}`);
  const wrapper = join(folder, 'temporal-test-server');
  if (existsSync(wrapper)) return { server: wrapper };
  const download = await vendorsDownload();
  if (download === undefined) return { server: VENDORS };
  try {
    await buildWithMaven(folder);
    return { server: wrapper };
  } catch (err) {
    return { missing: `the vendor's download: ${download}; Maven: ${(err as Error).message.split('\n')[0]}` };
  }
}

/** For tests, where the global setup has found a server. */
export function timeSkippingEnvironment(): Promise<TestWorkflowEnvironment> {
  const path = process.env.HOLDFAST_TEST_SERVER;
  if (!path) throw new Error('no test server: skip this test');
  if (path === VENDORS) return TestWorkflowEnvironment.createTimeSkipping();
  return TestWorkflowEnvironment.createTimeSkipping({
    server: { executable: { type: 'existing-path', path } },
  });
}

/** Why it cannot be had; undefined when it is there. */
async function vendorsDownload(): Promise<string | undefined> {
  const late = new Promise<string>((resolve) => setTimeout(() => resolve('no answer'), DOWNLOAD_MS).unref());
  const started = TestWorkflowEnvironment.createTimeSkipping().then(
    (env) => env.teardown().then(() => undefined),
    (err: Error) => err.message,
  );
  return Promise.race([started, late]);
}

async function buildWithMaven(folder: string): Promise<void> {
  const partial = `${folder}.partial-${process.pid}`;
  mkdirSync(partial, { recursive: true });
  try {
    writeFileSync(
      join(partial, 'pom.xml'),
      `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
       <groupId>holdfast</groupId><artifactId>test-server</artifactId><version>1</version>
       <dependencies><dependency><groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId>
       <version>${VERSION}</version></dependency></dependencies></project>`,
    );
    const args = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=jars'];
    await run('mvn', args, { cwd: partial, timeout: MAVEN_MS });
    const options = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';
    const java = `exec java ${options} -cp "$(dirname "$0")/jars/*" io.temporal.testserver.TestServer "$@"`;
    writeFileSync(join(partial, 'temporal-test-server'), `#!/bin/sh\n${java}\n`);
    chmodSync(join(partial, 'temporal-test-server'), 0o755);
    renameSync(partial, folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}
