// Values too large for history, between a host's scripts and the tools on the agents' side: two machines, each
// with its own data folder, over one server that carries encrypted payloads.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastClient } from '../../../client/holdfast-client';
import type { SessionHandle } from '../../../client/session-handle';
import { encryptedPayloads } from '../../../encryption/data-converter';
import { logUsage } from '../../../exec/host/log-quota';
import { packageRoot } from '../../../system/package-root';
import { listSessions } from '../../../exec/session-paths';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { testEachOf } from '../../helpers/run/long-run';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const tools = join(packageRoot(), 'tests', 'fixtures', 'script-tools.mjs');
const keyFile = join(engine.dataDir, 'one.key');
let pi: RemoteHost;
let client: HoldfastClient;
let session: SessionHandle;

const configure = (dataDir: string): void =>
  writeFileSync(
    join(dataDir, 'holdfast.toml'),
    `[tools]\nmodules = ["${tools}"]\n[storage]\nagent_values_mb = 8\nsession_log_mb = 1\nhost_logs_mb = 1\n[encryption]\nkeys = [{ id = "one", file = "${keyFile}" }]\nrequired = true\n`,
  );

beforeAll(async () => {
  writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
  configure(engine.dataDir);
  await engine.start();
  const { address } = engine.server();
  pi = new RemoteHost('pi', address);
  configure(pi.dataDir);
  await pi.serve();
  const keys = [{ id: 'one', file: keyFile }];
  const dataConverter = encryptedPayloads({ keys, required: true });
  client = await HoldfastClient.connect({ address, namespace: engine.namespace, dataConverter }, {});
}, 60_000);
afterAll(async () => {
  await pi.end();
  await client.close();
  expect(await engine.end()).toEqual([]);
}, 60_000);
beforeEach(() => {
  session = client.session({ agent: uniqueId('values'), host: 'pi', session: 0 });
});

/** What a script on the host printed, when it has ended. */
async function printed(code: string): Promise<string> {
  const head =
    'import codex_tools, os\ndef told(f):\n  try:\n    return f()\n  except codex_tools.ToolError as err:\n    return err.code + ": " + err.message\n';
  const { output, state } = await session.exec({
    runtime: 'python',
    code: `${head}${code}`,
    yield: { firstOutputMs: 600_000, betweenOutputMs: 600_000 },
  });
  expect(state).toBe('exited');
  return output.trim().replaceAll('\r', '');
}

test('a host whose payloads are encrypted is told which tools the agents have', async () => {
  const kept = join(pi.dataDir, 'offered-tools.pi.json');
  await until(() => existsSync(kept));
  expect(readFileSync(kept, 'utf8')).toContain('"name":"echo"');
});

test('a session keeps as much of its log as its host is configured to, and its view says what is missing', async () => {
  for (const number of [0, 1]) {
    const one = client.session({ ...session.ref, session: number });
    const { output, from, to, droppedBytes, exitCode } = await one.exec({ code: 'seq 400000' });
    expect([exitCode, from, to]).toEqual([0, droppedBytes, 3_088_895]);
    expect(to - from).toBeLessThanOrEqual(1024 ** 2);
    expect(output).toMatch(/^\[\d+ bytes dropped by the limits of the log, .* at offset \d+\]\n(\d*\n)+/);
    expect(output.endsWith('\n400000\n')).toBe(true);
    await one.close('done');
  }
}, 60_000);

testEachOf([[70_000], [1_900_000], [5_000_000]], ([bytes]) => bytes === 5_000_000)(
  'arguments and a result of %d bytes pass between a host and the tools on the agents’ side',
  async (bytes) => {
    const code = `
value = "".join(chr(97 + i * i % 26) for i in range(${bytes}))
print(codex_tools.echo(value=value) == value)`;
    expect(await printed(code)).toBe('True');
    // Not in any history that is replayed: the session's names the value and its location.
    const { raw } = await client.temporal.workflow.getHandle(session.workflowId).describe();
    expect(Number(raw.workflowExecutionInfo?.historySizeBytes)).toBeLessThan(64_000);
    await session.close('done');
  },
  60_000,
);

test('large values of an agent above its share are refused as that, and are taken when calls have ended', async () => {
  const code = `
import threading
place = "p" * 5_000_000
waiting = threading.Thread(target=lambda: print(codex_tools.meet_here(place=place, count=2)))
waiting.start()
while not os.path.exists("${pi.root}/waits-for-both"): time.sleep(0.02)
print(told(lambda: codex_tools.echo(value="e" * 5_000_000)))
print(told(lambda: codex_tools.echo(value="small")))
# The same arguments once more take nothing more.
print(codex_tools.meet_here(place=place, count=2))
waiting.join()
while told(lambda: codex_tools.meet_here(place="e" * 5_000_000, count=1)) != "met": time.sleep(0.1)`;
  const said = printed(`import time\n${code}`);
  const kept = join(pi.dataDir, 'blobs', session.ref.agent);
  await until(() => existsSync(kept) && readdirSync(kept).some((name) => !name.includes('.')));
  writeFileSync(join(pi.root, 'waits-for-both'), '');
  const [refused, small, ...met] = (await said).split('\n');
  expect(refused).toMatch(
    /^values_full: .*calls of agent \S+ hold large values of 4.8 MiB, allowed 8.0 MiB; nothing was run/,
  );
  expect([small, ...met]).toEqual(['small', 'met', 'met']);
  // The host needs none of them any more; the other machine keeps what it has delivered for a while.
  await until(() => !existsSync(kept) || readdirSync(kept).length === 0);
  await session.close('done');
}, 60_000);

test('a tool that may run only once does not run if its arguments cannot be fetched, and its script is told so', async () => {
  const code = `
import time
open("${pi.root}/waits", "w").close()
while not os.path.exists("${pi.root}/go"): time.sleep(0.02)
print(told(lambda: codex_tools.fire(folder="${pi.root}/" + "x" * 100_000, ms=0)))`;
  const said = printed(code);
  await until(() => existsSync(join(pi.root, 'waits')));
  // Running work continues; from now on the host serves no values.
  await pi.cli('host', 'access', 'pi', 'off');
  writeFileSync(join(pi.root, 'go'), '');
  expect(await said).toMatch(/^arguments_unreachable: .* at host.pi, .*execution_disabled; nothing was run/);
  await pi.cli('host', 'access', 'pi', 'read-write');
  await session.close('done');
}, 60_000);

test('a result that cannot be delivered is reported as that of a tool that ran', async () => {
  const blobs = join(engine.dataDir, 'blobs');
  rmSync(blobs, { recursive: true, force: true });
  writeFileSync(blobs, 'in the way');
  try {
    const said = await printed('print(told(lambda: codex_tools.large(bytes=100_000)))');
    expect(said).toMatch(/^result_undelivered: The tool large ran, but its result could not be delivered/);
    // One that may run only once is not started if its result could not be kept.
    const fired = join(pi.root, 'fired');
    const refused = await printed(`print(told(lambda: codex_tools.fire(folder="${pi.root}", ms=0)))`);
    expect(refused).toMatch(/^storage_failed: .*nothing was run/);
    expect(existsSync(fired)).toBe(false);
  } finally {
    rmSync(blobs);
  }
  await printed(`print(told(lambda: codex_tools.fire(folder="${pi.root}", ms=0)))`);
  expect(readFileSync(join(pi.root, 'fired'), 'utf8')).toBe('x');
  await session.close('done');
}, 60_000);

test('the logs of all sessions of a host are kept within its limit by its worker', async () => {
  // Those of the first test together were above it.
  await until(() => (logUsage(pi.dataDir)[0]?.bytes ?? 0) <= 1024 ** 2);
  expect(listSessions(pi.dataDir).length).toBeGreaterThan(1);
}, 60_000);
