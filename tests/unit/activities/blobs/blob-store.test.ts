import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobLimits } from '../../../../activities/blobs/blob-room';
import { BlobStore } from '../../../../activities/blobs/blob-store';
import { LargeValues } from '../../../../activities/blobs/large-values';
import type { BlobRef, ToolOutcome } from '../../../../contracts/tools/tools';

let folder: string;
let blobs: LargeValues;
let elsewhere: (ref: BlobRef) => Buffer | Promise<Buffer>;
const { signal } = new AbortController();
/** As another process on the same folder, or the same machine after a restart. */
const anew = (limits?: BlobLimits): LargeValues =>
  new LargeValues(
    new BlobStore(folder, { at: 'host.here', fetch: (ref) => Promise.resolve(elsewhere(ref)) }, limits),
  );
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-blobs-'));
  blobs = anew();
  elsewhere = () => Promise.reject(new Error('host there is offline'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A call of the agent. */
const of = (agent: string): { agent: string; id: string } => ({ agent, id: 'call' });
const LARGE = 'é'.repeat(100_000);
const HOUR_MS = 3_600_000;

/** Files below the folder, drafts among them. */
const filesIn = (place = folder): string[] =>
  readdirSync(place, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name));
const bytesIn = (): number => filesIn().reduce((sum, path) => sum + statSync(path).size, 0);

/** Large, and like no other. */
const large = (n: number): string => String(n).padStart(100_000, 'x');

async function blobOf(outcome: Promise<ToolOutcome>): Promise<BlobRef> {
  const found = await outcome;
  if (!('blob' in found)) throw new Error('not by file');
  return found.blob;
}
async function argsBlob(agent: string, n: number, store = blobs): Promise<BlobRef> {
  const { blob } = await store.fitArgs(of(agent), { value: large(n) });
  if (!blob) throw new Error('not by file');
  return blob;
}

test('a small value stays in history, a large one travels as a file and comes back the same', async () => {
  expect(await blobs.fit(of('a'), 't', { a: 1 })).toEqual({ ok: true, value: { a: 1 } });
  const outcome = await blobs.fit(of('a'), 't', LARGE);
  if (!('blob' in outcome)) throw new Error('not by file');
  expect(await blobs.read('a', outcome.blob, signal)).toBe(LARGE);
  expect(await blobs.fit(of('a'), 't', LARGE)).toEqual(outcome);
  expect(filesIn()).toHaveLength(1);
});

test('a value that no connection carries is an error of its call', async () => {
  await expect(blobs.fit(of('a'), 't', 'x'.repeat(17_000_000))).rejects.toMatchObject({
    code: 'result_too_large',
  });
  expect(filesIn()).toEqual([]);
});

test('a changed or removed file is reported as such, never returned as the value', async () => {
  const outcome = await blobs.fit(of('a'), 't', LARGE);
  if (!('blob' in outcome)) throw new Error('not by file');
  writeFileSync(join(folder, 'a', outcome.blob.sha256), JSON.stringify('ê'.repeat(100_000)));
  await expect(blobs.read('a', outcome.blob, signal)).rejects.toThrow('no longer exists');
  rmSync(join(folder, 'a', outcome.blob.sha256));
  await expect(blobs.read('a', outcome.blob, signal)).rejects.toThrow('no longer exists');
});

test.each(['../../etc/passwd', '', 'A'.repeat(64)])(
  'a name that is not a hash touches no file: %s',
  async (sha256) => {
    await expect(blobs.read('a', { sha256, bytes: 1 }, signal)).rejects.toMatchObject({
      code: 'invalid_input',
    });
  },
);

test('a value of another machine is fetched once, and returned only if it matches its name', async () => {
  const content = Buffer.from(JSON.stringify(LARGE));
  const sha256 = createHash('sha256').update(content).digest('hex');
  const there = { sha256, bytes: content.length, at: 'host.there' };
  await expect(blobs.read('a', there, signal)).rejects.toThrow('host there is offline');
  const changed = Buffer.from(content).fill('x', 1, 9);
  elsewhere = () => changed;
  await expect(blobs.read('a', there, signal)).rejects.toThrow('differs from the one that was sent');
  elsewhere = () => content;
  expect(await blobs.read('a', there, signal)).toBe(LARGE);
  elsewhere = () => Promise.reject(new Error('asked again'));
  expect(await blobs.read('a', there, signal)).toBe(LARGE);
});

test('the parts of a value make up the value, and a missing one is reported', async () => {
  const outcome = await blobs.fit(of('a'), 't', 'é'.repeat(600_000));
  if (!('blob' in outcome)) throw new Error('not by file');
  const { sha256, bytes } = outcome.blob;
  const parts: Buffer[] = [];
  for (let from = 0; from < bytes; from += parts.at(-1)?.length ?? 0)
    parts.push(await blobs.part({ sha256 }, from));
  expect(parts).toHaveLength(2);
  expect(createHash('sha256').update(Buffer.concat(parts)).digest('hex')).toBe(sha256);
  await expect(blobs.part({ sha256: '0'.repeat(64) }, 0)).rejects.toMatchObject({ code: 'not_found' });
});

test('values that no call can ask for any more are removed, the rest stays', async () => {
  const outcome = await blobs.fit(of('a'), 't', LARGE);
  if (!('blob' in outcome)) throw new Error('not by file');
  await blobs.prune(Date.now() + 31 * 24 * HOUR_MS);
  expect(existsSync(join(folder, 'a', outcome.blob.sha256))).toBe(true);
  await blobs.prune(Date.now() + 33 * 24 * HOUR_MS);
  expect(filesIn()).toEqual([]);
});

describe('a value is kept', () => {
  test('as long as one of the calls needs it that have made the same, and then is gone', async () => {
    const calls = await Promise.all([
      blobOf(blobs.fit(of('a'), 't', LARGE)),
      blobOf(blobs.fit(of('a'), 't', LARGE)),
    ]);
    // The same again as arguments, which count separately.
    const { blob: args } = await blobs.fitArgs(of('a'), { value: LARGE });
    const { blob: again } = await blobs.fitArgs(of('a'), { value: LARGE });
    if (!args || !again) throw new Error('not by file');
    expect(filesIn()).toHaveLength(2);
    blobs.releaseResult('a', calls[0]);
    blobs.releaseArgs('a', args);
    expect(await blobs.read('a', calls[1], signal)).toBe(LARGE);
    expect(await blobs.read('a', again, signal)).toEqual({ value: LARGE });
    blobs.releaseResult('a', calls[1]);
    expect(filesIn()).toHaveLength(1);
    blobs.releaseArgs('a', again);
    expect(filesIn()).toEqual([]);
  });

  test('for the result that equals the arguments of its call', async () => {
    const { blob: args } = await blobs.fitArgs(of('a'), { value: LARGE });
    const result = await blobOf(blobs.fit(of('a'), 't', { value: LARGE }));
    if (!args) throw new Error('not by file');
    expect(result.sha256).toBe(args.sha256);
    blobs.releaseArgs('a', args);
    expect(await blobs.read('a', result, signal)).toEqual({ value: LARGE });
    blobs.releaseResult('a', result);
    expect(filesIn()).toEqual([]);
  });

  test('for each agent by itself', async () => {
    const mine = await blobOf(blobs.fit(of('a'), 't', LARGE));
    const yours = await blobOf(blobs.fit(of('b'), 't', LARGE));
    blobs.releaseResult('a', mine);
    expect(await blobs.read('b', yours, signal)).toBe(LARGE);
    await expect(blobs.read('a', mine, signal)).rejects.toThrow('no longer exists');
  });

  test('for an hour if an earlier process has made it: others may need it', async () => {
    const ref = await blobOf(anew().fit(of('a'), 't', LARGE));
    blobs.releaseResult('a', ref);
    await blobs.prune(Date.now() + 0.9 * HOUR_MS);
    expect(await blobs.read('a', ref, signal)).toBe(LARGE);
    await blobs.prune(Date.now() + 1.1 * HOUR_MS);
    expect(filesIn()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('for an hour when another machine has fetched all of it; arguments until their call is over', async () => {
    const result = await blobOf(blobs.fit(of('a'), 't', 'é'.repeat(600_000)));
    const args = await argsBlob('a', 1);
    for (const { sha256, bytes } of [result, args])
      for (let from = 0; from < bytes; from += 1_000_000) await blobs.part({ sha256 }, from);
    await blobs.prune(Date.now() + 1.1 * HOUR_MS);
    expect(filesIn()).toEqual([join(folder, 'a', args.sha256)]);
  });

  test('for all of the calls that have made it, of which another machine has fetched one', async () => {
    for (let calls = 0; calls < 2; calls++) await blobs.fit(of('a'), 't', LARGE);
    const { sha256 } = await blobOf(blobs.fit(of('b'), 't', LARGE));
    const kept = async (): Promise<number> => {
      await blobs.part({ sha256 }, 0);
      await blobs.prune(Date.now() + 1.1 * HOUR_MS);
      return filesIn().length;
    };
    // Nor is it known which agent's was fetched.
    expect(await kept()).toBe(2);
    rmSync(join(folder, 'b'), { recursive: true });
    expect([await kept(), await kept()]).toEqual([1, 0]);
  });

  test('for as long as before if another machine has fetched a part of it', async () => {
    const { sha256 } = await blobOf(blobs.fit(of('a'), 't', 'é'.repeat(600_000)));
    await blobs.part({ sha256 }, 0);
    await blobs.prune(Date.now() + 31 * 24 * HOUR_MS);
    expect(filesIn()).toHaveLength(1);
  });
});

test('leftovers of an interrupted write are removed, but not of one still in progress', async () => {
  mkdirSync(join(folder, 'a'));
  const draft = join(folder, 'a', `${'0'.repeat(64)}.draft`);
  writeFileSync(draft, 'half');
  await blobs.prune();
  expect(filesIn()).toEqual([draft]);
  await blobs.prune(Date.now() + 1.1 * HOUR_MS);
  expect(filesIn()).toEqual([]);
});

describe('within its limits', () => {
  // Of values of 100 KB.
  const LIMITS = { valueBytes: 1_050_000, agentValueBytes: 350_000 };
  beforeEach(() => (blobs = anew(LIMITS)));

  test('arguments of an agent above its share are refused before anything runs, and those of others are not', async () => {
    const refs = await Promise.all([1, 2, 3].map((n) => argsBlob('a', n)));
    const { error } = { error: await argsBlob('a', 4).catch((err: unknown) => err) };
    expect(error).toMatchObject({ code: 'values_full', retryable: true, effect: 'none' });
    expect(String(error)).toMatch(
      /calls of agent a hold large values of 0\.3 MiB, allowed 0\.3 MiB; nothing was run/,
    );
    await argsBlob('b', 4);
    // The same values again take no more space: a repeated call is not refused.
    await argsBlob('a', 3);
    blobs.releaseArgs('a', refs[0] as BlobRef);
    await argsBlob('a', 4);
    expect(bytesIn()).toBeLessThan(450_000);
  });

  test('a tool that has run keeps its result up to twice the share of its agent, whose next calls are refused', async () => {
    for (let n = 0; n < 6; n++) await blobOf(blobs.fit(of('a'), 't', large(n)));
    await expect(blobs.fit(of('a'), 't', large(7))).rejects.toThrow(/allowed 0.7 MiB/);
    await expect(blobs.checkQuota('a')).rejects.toMatchObject({ code: 'values_full', effect: 'none' });
    await blobs.checkQuota('b');
    await blobs.checkRoom();
  });

  test('all together take no more than their limit, however many come at once', async () => {
    const agents = ['a', 'b', 'c', 'd', 'e'];
    const outcomes = await Promise.allSettled(
      agents.flatMap((agent, i) => [0, 1, 2].map((n) => blobs.fit(of(agent), 't', large(i * 10 + n)))),
    );
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(outcomes.length - refused.length).toBe(10);
    expect(refused[0]).toMatchObject({ reason: { code: 'values_full' } });
    expect(bytesIn()).toBeLessThanOrEqual(LIMITS.valueBytes);
    await expect(blobs.checkRoom()).rejects.toThrow(/calls of all agents hold/);
    // Calls that may safely run again are not refused because of others.
    await blobs.checkQuota('f');
  });

  test('values that nobody needs make room for those that a call needs: copies, and delivered ones', async () => {
    for (let n = 0; n < 3; n++) {
      const content = Buffer.from(JSON.stringify(large(100 + n)));
      const sha256 = createHash('sha256').update(content).digest('hex');
      elsewhere = () => content;
      await blobs.read('a', { sha256, bytes: content.length, at: 'host.there' }, signal);
    }
    const delivered = await blobOf(blobs.fit(of('e'), 't', large(200)));
    await blobs.part(delivered, 0);
    const kept: BlobRef[] = [];
    for (const agent of ['a', 'b', 'c', 'd'])
      for (let n = 0; n < (agent === 'd' ? 1 : 3); n++) kept.push(await argsBlob(agent, kept.length));
    expect(bytesIn()).toBeLessThanOrEqual(LIMITS.valueBytes);
    expect(
      filesIn()
        .map((path) => path.slice(-64))
        .sort(),
    ).toEqual(kept.map(({ sha256 }) => sha256).sort());
  });

  test('existing values count after a restart', async () => {
    for (let n = 0; n < 3; n++) await argsBlob('a', n);
    await expect(argsBlob('a', 9, anew(LIMITS))).rejects.toMatchObject({ code: 'values_full' });
  });

  test('a copy that has been read is gone; values that belong here stay', async () => {
    const content = Buffer.from(JSON.stringify(LARGE));
    const sha256 = createHash('sha256').update(content).digest('hex');
    elsewhere = () => content;
    const there = { sha256, bytes: content.length, at: 'host.there' };
    await blobs.read('a', there, signal);
    const own = await argsBlob('a', 1);
    expect(filesIn()).toHaveLength(2);
    for (const ref of [there, own]) blobs.releaseCopy(ref);
    expect(filesIn()).toEqual([join(folder, 'a', own.sha256)]);
  });
});

test.each(['..', '../b', '.copies', '', 'A b'])('an agent named %j reaches no file', async (agent) => {
  await expect(blobs.fit(of(agent), 't', LARGE)).rejects.toMatchObject({ code: 'invalid_input' });
  expect(filesIn()).toEqual([]);
});
