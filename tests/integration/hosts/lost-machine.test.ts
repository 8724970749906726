// A team's machines with a bucket for large values: what one made outlives it. Two machines serve agents, one after the
// other; a host that has no access to the bucket runs the scripts.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastClient } from '../../../client/holdfast-client';
import { fetchBlob } from '../../../client/delivery/fetch-blob';
import type { SessionHandle } from '../../../client/session-handle';
import { BlobStore } from '../../../activities/blobs/blob-store';
import { BucketStore } from '../../../activities/blobs/bucket-store';
import { LargeValues } from '../../../activities/blobs/large-values';
import { openS3Bucket } from '../../../activities/blobs/s3-bucket';
import { DEFAULT_QUOTAS } from '../../../contracts/sessions/quotas';
import { encryptedPayloads } from '../../../encryption/data-converter';
import { SealedValues } from '../../../encryption/sealed-values';
import { packageRoot } from '../../../system/package-root';
import { isAlive } from '../../../system/processes/process-identity';
import { ensureWorker } from '../../../workers/process/worker-process';
import { runningWorker } from '../../../workers/process/worker-record';
import { endDataFolder } from '../../helpers/engines/end-data-folder';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { noS3Server, S3Server } from '../../helpers/services/s3-server';
import { uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const missing = noS3Server();
const withS3 = missing ? describe.skip : describe;

withS3(`a bucket for large values${missing ? ` (not checked: ${missing})` : ''}`, () => {
  const engine = new EngineOfItsOwn();
  const s3 = new S3Server();
  const BUCKET = 'team-values';
  const keyFile = join(engine.dataDir, 'one.key');
  const tools = join(packageRoot(), 'tests', 'fixtures', 'large-tools.mjs');
  const machines: string[] = [];
  let host: RemoteHost;
  let client: HoldfastClient;
  let session: SessionHandle;
  let dataConverter: ReturnType<typeof encryptedPayloads>;

  const encryption = `[encryption]\nkeys = [{ id = "one", file = "${keyFile}" }]\nrequired = true\n`;
  const storage = (): string =>
    `[storage]\nvalues = "s3://${BUCKET}/here"\ns3_endpoint = "${s3.endpoint}"\ns3_path_style = true\n`;

  /** One that serves agents, until it is lost. */
  async function startMachine(): Promise<string> {
    const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-machine-'));
    machines.push(dataDir);
    const config = `[tools]\nmodules = ["${tools}"]\n${storage()}${encryption}`;
    writeFileSync(join(dataDir, 'holdfast.toml'), config);
    const { address } = engine.server();
    const env = { ...process.env, ...s3.env };
    const { namespace } = engine;
    await ensureWorker({ dataDir, address, namespace, host: null, join: true, env });
    return dataDir;
  }
  /** Power and disk are gone. */
  async function lose(dataDir: string): Promise<void> {
    const worker = runningWorker(dataDir);
    if (!worker) throw new Error('no worker');
    process.kill(worker.identity.pid, 'SIGKILL');
    await until(() => !isAlive(worker.identity));
    rmSync(dataDir, { recursive: true, force: true });
    machines.splice(machines.indexOf(dataDir), 1);
  }

  beforeAll(async () => {
    writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
    await s3.start();
    s3.makeBucket(BUCKET);
    await engine.startServer();
    await startMachine();
    const { address } = engine.server();
    host = new RemoteHost('pi', address);
    writeFileSync(join(host.dataDir, 'holdfast.toml'), encryption);
    await host.serve();
    dataConverter = encryptedPayloads({ keys: [{ id: 'one', file: keyFile }], required: true });
    client = await HoldfastClient.connect({ address, namespace: engine.namespace, dataConverter }, {});
    session = client.session({ agent: uniqueId('values'), host: 'pi', session: 0 });
  }, 120_000);
  afterAll(async () => {
    await host.end();
    await client.close();
    for (const dataDir of machines) {
      await endDataFolder(dataDir);
      rmSync(dataDir, { recursive: true, force: true });
    }
    await s3.end();
    expect(await engine.end()).toEqual([]);
  }, 120_000);
  const at = (name: string): string => join(host.root, name);
  beforeEach(() => {
    for (const name of ['ran', 'go']) rmSync(at(name), { force: true });
  });

  /** What a script prints that gives a large value to a tool and gets one. */
  async function printed(): Promise<string> {
    const code = `
import codex_tools
text = codex_tools.large_once(folder="${host.root}", given="g" * 100_000, text="friday ", times=200_000)
print(text[:20], len(text))`;
    const yields = { firstOutputMs: 120_000, betweenOutputMs: 120_000 };
    const { output } = await session.exec({ runtime: 'python', code, yield: yields });
    return output.trim();
  }
  const SAID = '100000 friday friday 1400007';

  test('a result is delivered although the bucket is away when its tool ends, and the tool runs once', async () => {
    const said = printed();
    await until(() => existsSync(at('ran')));
    await s3.stop();
    writeFileSync(at('go'), '');
    await s3.untilTriedInVain();
    await s3.start();
    expect(await said).toBe(SAID);
    expect(readFileSync(at('ran'), 'utf8')).toBe('x');
  }, 120_000);

  test('a result of a machine that is lost with its disk is delivered through another one, and the tool ran once', async () => {
    const before = s3.objects(BUCKET).length;
    const said = printed();
    await until(() => existsSync(at('ran')));
    // It cannot fetch the result before the machine is gone.
    host.fallSilent();
    writeFileSync(at('go'), '');
    await until(() => s3.objects(BUCKET).length > before);
    const handle = client.temporal.workflow.getHandle(session.workflowId);
    await until(async () => {
      const { pendingActivities } = (await handle.describe()).raw;
      return !pendingActivities?.some(({ activityType }) => activityType?.name === 'invokeTool');
    });
    await lose(machines[0] ?? '');
    await startMachine();
    host.goOn();
    expect(await said).toBe(SAID);
    expect(readFileSync(at('ran'), 'utf8')).toBe('x');
    for (const object of s3.objects(BUCKET))
      expect(readFileSync(s3.path(BUCKET, object)).includes('friday')).toBe(false);
  }, 180_000);

  test('a client without access to the bucket reads a value of a machine that is gone', async () => {
    const { namespace } = engine;
    Object.assign(process.env, s3.env);
    const place = { bucket: BUCKET, prefix: 'here', endpoint: s3.endpoint, pathStyle: true };
    const gone = mkdtempSync(join(tmpdir(), 'holdfast-gone-'));
    const values = new LargeValues(
      new BlobStore(gone, { at: 'holdfast', fetch: () => Promise.reject(new Error('asks nobody')) }),
      new BucketStore({
        bucket: await openS3Bucket(place, namespace),
        sealing: new SealedValues(dataConverter, namespace),
        limits: DEFAULT_QUOTAS,
        at: 'holdfast',
        warn: () => undefined,
      }),
    );
    const text = 'friday '.repeat(200_000);
    const outcome = await values.fit({ agent: 'a', id: 'call' }, 'tool', text);
    rmSync(gone, { recursive: true });
    for (const name of Object.keys(s3.env)) delete process.env[name];
    if (!('blob' in outcome)) throw new Error('not stored');
    const ref = { ...outcome.blob, at: outcome.blob.at ?? '' };
    const content = await fetchBlob(client, ref, new AbortController().signal);
    expect(JSON.parse(content.toString())).toBe(text);
  }, 60_000);
});
