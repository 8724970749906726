// Large values in a bucket of a real S3 server: what is there, who can read it, and what is said if it cannot be used.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobStore } from '../../../activities/blobs/blob-store';
import { BucketStore } from '../../../activities/blobs/bucket-store';
import { LargeValues } from '../../../activities/blobs/large-values';
import { openS3Bucket } from '../../../activities/blobs/s3-bucket';
import { checkStorage } from '../../../cli/doctor/check-storage';
import { DEFAULT_QUOTAS, type BucketPlace } from '../../../contracts/sessions/quotas';
import type { BlobRef, ToolOutcome } from '../../../contracts/tools/tools';
import { encryptedPayloads } from '../../../encryption/data-converter';
import type { KeySource } from '../../../encryption/encryption-settings';
import { SealedValues } from '../../../encryption/sealed-values';
import { noS3Server, S3Server } from '../../helpers/services/s3-server';
import { uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const missing = noS3Server();
const withS3 = missing ? describe.skip : describe;

withS3(`large values in a bucket${missing ? ` (not checked: ${missing})` : ''}`, () => {
  const s3 = new S3Server();
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bucket-'));
  const key = (id: string): KeySource => ({ id, file: join(directory, `${id}.key`) });
  const { signal } = new AbortController();
  const HOUR_MS = 3_600_000;
  const SECRET = 'the merger is on friday ';
  const VALUE = SECRET.repeat(5_000);
  let bucket: string;
  const place = (given: Partial<BucketPlace> = {}): BucketPlace => ({
    ...{ bucket, prefix: 'team', endpoint: s3.endpoint, pathStyle: true },
    ...given,
  });
  const kept: Record<string, string | undefined> = {};

  beforeAll(async () => {
    for (const id of ['old', 'new'])
      writeFileSync(join(directory, `${id}.key`), randomBytes(32).toString('base64'), { mode: 0o600 });
    for (const [name, value] of Object.entries(s3.env)) {
      kept[name] = process.env[name];
      process.env[name] = value;
    }
    await s3.start();
  }, 60_000);
  afterAll(async () => {
    for (const [name, value] of Object.entries(kept))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    await s3.end();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(() => s3.makeBucket((bucket = uniqueId('b'))));
  // A test that fails while the server is stopped must not fail those that follow.
  afterEach(() => s3.start());

  interface Given {
    keys?: string[];
    namespace?: string;
    limits?: { valueBytes: number; agentValueBytes: number };
    at?: BucketPlace;
    tryMs?: number;
  }
  /** A machine with an empty data folder. */
  async function machine({
    keys = ['old'],
    namespace = 'ns',
    limits,
    ...rest
  }: Given = {}): Promise<LargeValues> {
    const converter = encryptedPayloads({ keys: keys.map(key), required: keys.length > 0 });
    const folder = new BlobStore(join(directory, uniqueId('folder')), {
      at: 'holdfast',
      fetch: () => Promise.reject(new Error('nobody is asked')),
    });
    return new LargeValues(
      folder,
      new BucketStore({
        bucket: await openS3Bucket(rest.at ?? place(), namespace, rest.tryMs ?? 20_000),
        sealing: new SealedValues(converter, namespace),
        limits: limits ?? DEFAULT_QUOTAS,
        at: 'holdfast',
        warn: (message, facts) => {
          throw new Error(`${message}: ${JSON.stringify(facts)}`);
        },
      }),
    );
  }
  async function refOf(outcome: Promise<ToolOutcome>): Promise<BlobRef> {
    const found = await outcome;
    if (!('blob' in found)) throw new Error('not stored');
    return found.blob;
  }
  const call = (id: string, agent = 'a'): { agent: string; id: string } => ({ agent, id });

  test('a value is read by a machine that shares nothing with the one that made it; with encryption the bucket has nothing of it', async () => {
    const ref = await refOf((await machine()).fit(call('1'), 't', VALUE));
    expect(await (await machine()).read('a', ref, signal)).toBe(VALUE);
    const [object = '', ...others] = s3.objects(bucket);
    expect(others).toEqual([]);
    expect(object).toBe(`team/ns/${String(ref.object)}`);
    expect(object).not.toContain(ref.sha256);
    const stored = readFileSync(s3.path(bucket, object));
    expect(stored.length).toBeGreaterThan(VALUE.length);
    expect(stored.includes(SECRET.slice(0, 8))).toBe(false);
    expect(stored.includes(Buffer.from(SECRET.repeat(3)).toString('base64').slice(4, 40))).toBe(false);
  });

  test('a value that was encrypted with an earlier key is read for as long as the key is known, and by nobody without it', async () => {
    const ref = await refOf((await machine()).fit(call('1'), 't', VALUE));
    expect(await (await machine({ keys: ['new', 'old'] })).read('a', ref, signal)).toBe(VALUE);
    const without = await machine({ keys: ['new'] });
    await expect(without.read('a', ref, signal)).rejects.toMatchObject({ code: 'payload_key_unknown' });
  });

  test('a value of another agent, of another namespace or in plaintext is never given out for a call’s own', async () => {
    const values = await machine();
    const mine = await refOf(values.fit(call('1'), 't', VALUE));
    const theirs = await refOf(values.fit(call('1', 'b'), 't', VALUE));
    await expect(values.read('a', theirs, signal)).rejects.toThrow('belongs to another agent');
    const path = (ref: BlobRef): string => s3.path(bucket, `team/ns/${String(ref.object)}`);
    writeFileSync(path(mine), readFileSync(path(theirs)));
    await expect(values.read('a', mine, signal)).rejects.toMatchObject({ code: 'payload_moved' });
    const plain = await refOf((await machine({ keys: [] })).fit(call('2'), 't', VALUE));
    await expect(values.read('a', plain, signal)).rejects.toMatchObject({ code: 'payload_plaintext' });
    const elsewhere = await machine({ namespace: 'other' });
    await expect(elsewhere.read('a', mine, signal)).rejects.toThrow('no longer in s3://');
  });

  test('without keys a value is stored as it is, and a changed or removed one is told', async () => {
    const values = await machine({ keys: [] });
    const ref = await refOf(values.fit(call('1'), 't', VALUE));
    const path = s3.path(bucket, `team/ns/${String(ref.object)}`);
    const stored = readFileSync(path);
    expect(stored.includes(SECRET)).toBe(true);
    writeFileSync(path, Buffer.from(stored).fill('x', stored.length - 9, stored.length - 3));
    await expect(values.read('a', ref, signal)).rejects.toThrow('it has changed');
    rmSync(path);
    await expect(values.read('a', ref, signal)).rejects.toThrow(`no longer in s3://${bucket}/team`);
  });

  test('equal values of two calls do not depend on each other, and a call that is sent again takes nothing more', async () => {
    const [one, other] = [await machine(), await machine()];
    const { blob: first } = await one.fitArgs(call('1'), { value: VALUE });
    const { blob: again } = await other.fitArgs(call('1'), { value: VALUE });
    const { blob: second } = await other.fitArgs(call('2'), { value: VALUE });
    if (!first || !again || !second) throw new Error('not stored');
    expect([first.sha256, again.object]).toEqual([second.sha256, first.object]);
    expect(s3.objects(bucket)).toHaveLength(2);
    one.releaseArgs('a', first);
    await until(() => s3.objects(bucket).length === 1);
    expect(await one.read('a', second, signal)).toEqual({ value: VALUE });
    other.releaseArgs('a', second);
    await until(() => s3.objects(bucket).length === 0);
  });

  test('the parts for a machine without the bucket make up the value, which is removed an hour after the last of them', async () => {
    const values = await machine();
    const text = VALUE.repeat(20);
    const ref = await refOf(values.fit(call('1'), 't', text));
    const parts: Buffer[] = [];
    for (let from = 0; from < ref.bytes; from += parts.at(-1)?.length ?? 0)
      parts.push(await values.part(ref, from));
    expect(parts.length).toBe(3);
    expect(JSON.parse(Buffer.concat(parts).toString())).toBe(text);
    await values.prune(Date.now() + 0.9 * HOUR_MS);
    expect(s3.objects(bucket)).toHaveLength(1);
    await values.prune(Date.now() + 1.1 * HOUR_MS);
    await until(() => s3.objects(bucket).length === 0);
  });

  test('so is a value whose last part is as long as the others; arguments stay until their call is over', async () => {
    const values = await machine();
    const ref = await refOf(values.fit(call('1'), 't', 'x'.repeat(2_000_000 - '""'.length)));
    const { blob: args } = await values.fitArgs(call('2'), { value: VALUE });
    if (!args) throw new Error('not stored');
    expect([ref.bytes, args.bytes < 1_000_000]).toEqual([2_000_000, true]);
    for (const from of [0, 1_000_000]) await values.part(ref, from);
    await values.part(args, 0);
    await values.prune(Date.now() + 1.1 * HOUR_MS);
    await until(() => s3.objects(bucket).length === 1);
    expect(await values.read('a', args, signal)).toEqual({ value: VALUE });
    values.releaseArgs('a', args);
    await until(() => s3.objects(bucket).length === 0);
  });

  test('values that no call can ask for any more are removed, those of others in the bucket are not', async () => {
    const values = await machine();
    await values.fit(call('1'), 't', VALUE);
    await (await machine({ at: place({ prefix: 'other' }) })).fit(call('1'), 't', VALUE);
    const age = (days: number): void => {
      const at = new Date(Date.now() - days * 24 * HOUR_MS);
      for (const object of s3.objects(bucket)) utimesSync(s3.path(bucket, object), at, at);
    };
    age(31);
    await (await machine()).prune();
    expect(s3.objects(bucket)).toHaveLength(2);
    age(33);
    await values.prune();
    expect(s3.objects(bucket)).toEqual([expect.stringMatching(/^other\/ns\/a\//)]);
  });

  test('a machine whose clock is a month ahead removes no value that is still needed', async () => {
    const values = await machine();
    await values.fit(call('1'), 't', VALUE);
    await values.prune(Date.now() + 40 * 24 * HOUR_MS);
    expect(s3.objects(bucket)).toHaveLength(1);
  });

  test('an agent above its share is refused before anything runs, whichever machine made its values; others are not', async () => {
    const limits = { valueBytes: 1_000_000, agentValueBytes: 250_000 };
    for (const id of ['1', '2']) await (await machine({ limits })).fitArgs(call(id), { value: VALUE });
    const values = await machine({ limits });
    const refused = { code: 'values_full', effect: 'none' };
    await expect(values.fitArgs(call('3'), { value: VALUE })).rejects.toMatchObject(refused);
    // The tool of a call that was admitted has run.
    for (const id of ['3', '4']) await values.fit(call(id), 't', VALUE);
    await expect(values.checkQuota('a')).rejects.toMatchObject(refused);
    await values.fitArgs(call('1', 'b'), { value: VALUE });
  });

  test('a reference to a file in a data folder is read as before a bucket was configured', async () => {
    const at = { at: 'holdfast', fetch: () => Promise.reject(new Error('nobody is asked')) };
    const folder = new BlobStore(join(directory, uniqueId('folder')), at);
    const ref = await refOf(new LargeValues(folder).fit(call('1'), 't', VALUE));
    const sealing = new SealedValues(undefined, 'ns');
    const opened = await openS3Bucket(place(), 'ns');
    const store = new BucketStore({
      bucket: opened,
      sealing,
      limits: DEFAULT_QUOTAS,
      at: 'q',
      warn: () => {},
    });
    const both = new LargeValues(folder, store);
    expect(await both.read('a', ref, signal)).toBe(VALUE);
    expect((await both.part(ref, 0)).length).toBe(ref.bytes);
    // And one in a bucket says so where none is configured.
    const inBucket = await refOf(both.fit(call('2'), 't', `${VALUE}.`));
    await expect(new LargeValues(folder).read('a', { ...inBucket, at: 'holdfast' }, signal)).rejects.toThrow(
      '[storage] of this worker names none',
    );
  });

  test('a store that is away for a while delays large values and no other call, and one that stays away is told before anything runs', async () => {
    const values = await machine();
    await s3.stop();
    const stored = refOf(values.fit(call('1'), 't', VALUE));
    // Calls without large values need no bucket.
    for (const agent of ['a', 'b']) await (await machine()).checkQuota(agent);
    const impatient = await machine({ tryMs: 2_000 });
    await impatient.checkQuota('a');
    await expect(impatient.fitArgs(call('2'), { value: VALUE })).rejects.toMatchObject({
      ...{ code: 'bucket_failed', effect: 'none', retryable: true },
      message: expect.stringMatching(/ECONNREFUSED.*nothing was run.*Check the network/) as string,
    });
    await expect(impatient.checkRoom()).rejects.toMatchObject({ code: 'bucket_failed', effect: 'none' });
    await s3.start();
    const reading = values.read('a', await stored, signal);
    expect(await reading).toBe(VALUE);
  }, 60_000);

  test.each([
    ['answers nothing', ''],
    ['stops in the middle of an answer', 'HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\nbegun'],
  ])('a store that %s is given up when its time is over', async (_how, answer) => {
    const silent = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => answer && socket.write(answer));
    });
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const at = place({ endpoint: `http://127.0.0.1:${port}` });
    const values = await machine({ at, tryMs: 300 });
    const ref = { sha256: '0'.repeat(64), bytes: 9_000, object: `a/${'0'.repeat(64)}` };
    const told = {
      code: 'bucket_failed',
      message: expect.stringContaining('no whole answer within 300 ms') as string,
    };
    await expect(values.read('a', ref, signal)).rejects.toMatchObject(told);
    await expect(values.fitArgs(call('1'), { value: VALUE })).rejects.toMatchObject({
      code: 'bucket_failed',
    });
    silent.close();
  });

  test.each<[string, Partial<BucketPlace>, NodeJS.ProcessEnv, RegExp]>([
    [
      'a secret that is wrong',
      {},
      { AWS_SECRET_ACCESS_KEY: 'another one' },
      /SignatureDoesNotMatch.*HTTP 403.*Let the credentials/,
    ],
    [
      'credentials that it does not know',
      {},
      { AWS_ACCESS_KEY_ID: 'nobody' },
      /access key.*Let the credentials/,
    ],
    ['no such bucket', { bucket: 'not-there' }, {}, /NoSuchBucket.*HTTP 404.*Create the bucket/],
  ])('is told at once, by workers and by the doctor: %s', async (_what, given, env, message) => {
    Object.assign(process.env, env);
    const folder = mkdtempSync(join(directory, 'doctor-'));
    const { bucket: name, endpoint = '' } = place(given);
    writeFileSync(
      join(folder, 'holdfast.toml'),
      `[storage]\nvalues = "s3://${name}/team"\ns3_endpoint = "${endpoint}"\ns3_path_style = true\n`,
    );
    try {
      const values = await machine({ at: place(given), tryMs: 600_000 });
      await expect(values.fitArgs(call('1'), { value: VALUE })).rejects.toThrow(message);
      await expect(values.checkRoom()).rejects.toThrow(message);
      const { bucket: found } = await checkStorage(folder, 'ns');
      expect(found).toMatchObject({ status: 'fail' });
      expect(`${String(found?.found)} ${String(found?.next)}`).toMatch(message);
    } finally {
      Object.assign(process.env, s3.env);
    }
    if (given.bucket === undefined)
      expect((await checkStorage(folder, 'ns')).bucket).toEqual({
        status: 'ok',
        found: `s3://${bucket}/team at ${endpoint}: 0.0 MiB of 2048 MiB`,
      });
  });
});
