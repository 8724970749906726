// Images of conversations in a bucket of a real S3 server.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobStore } from '../../../activities/blobs/blob-store';
import { BucketStore } from '../../../activities/blobs/bucket-store';
import { ImageFiles } from '../../../activities/blobs/image-files';
import { ImageObjects } from '../../../activities/blobs/image-objects';
import type { AgentsServer } from '../../../activities/blobs/image-owners';
import { ImageStore } from '../../../activities/blobs/image-store';
import { LargeValues } from '../../../activities/blobs/large-values';
import { openS3Bucket } from '../../../activities/blobs/s3-bucket';
import { DEFAULT_QUOTAS } from '../../../contracts/sessions/quotas';
import { imageFacts } from '../../../contracts/tools/image-header';
import { encryptedPayloads } from '../../../encryption/data-converter';
import { SealedValues } from '../../../encryption/sealed-values';
import { png } from '../../helpers/tools/images';
import { noS3Server, S3Server } from '../../helpers/services/s3-server';
import { uniqueId } from '../../helpers/engines/temporal';

const missing = noS3Server();
const withS3 = missing ? describe.skip : describe;

withS3(`images in a bucket${missing ? ` (not checked: ${missing})` : ''}`, () => {
  const s3 = new S3Server();
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bucket-'));
  const keyFile = join(directory, 'key');
  const { signal } = new AbortController();
  const DAY_MS = 86_400_000;
  const SHOT = png(50, 50);
  const FACTS = imageFacts(SHOT);
  let name: string;
  const kept: Record<string, string | undefined> = {};

  beforeAll(async () => {
    writeFileSync(keyFile, randomBytes(32).toString('base64'), { mode: 0o600 });
    for (const [variable, value] of Object.entries(s3.env)) {
      kept[variable] = process.env[variable];
      process.env[variable] = value;
    }
    await s3.start();
  }, 60_000);
  afterAll(async () => {
    for (const [variable, value] of Object.entries(kept))
      if (value === undefined) delete process.env[variable];
      else process.env[variable] = value;
    await s3.end();
    rmSync(directory, { recursive: true, force: true });
  });
  beforeEach(() => s3.makeBucket((name = uniqueId('b'))));

  /** Without the marks of the servers that they are of. */
  const imagesIn = (objects: string[]): string[] =>
    objects.filter((object) => !object.includes('/images/of/'));

  /** A machine with an empty data folder. */
  async function machine(
    isGone: AgentsServer['isGone'] = () => Promise.resolve(false),
    owner = 'own/default',
  ): Promise<{
    images: ImageStore;
    values: LargeValues;
  }> {
    const converter = encryptedPayloads({ keys: [{ id: 'k', file: keyFile }], required: true });
    const folder = join(directory, uniqueId('folder'));
    const place = { at: 'holdfast', fetch: () => Promise.reject(new Error('nobody is asked')) };
    const options = {
      bucket: await openS3Bucket(
        { bucket: name, prefix: 'team', endpoint: s3.endpoint, pathStyle: true },
        'ns',
      ),
      sealing: new SealedValues(converter, 'ns'),
      limits: DEFAULT_QUOTAS,
      at: 'holdfast',
      warn: (message: string) => {
        throw new Error(message);
      },
    };
    const bucket = new BucketStore(options);
    const images = new ImageStore({
      files: new ImageFiles(folder),
      objects: new ImageObjects(options),
      bucket,
      place,
      server: { isGone, owner: () => Promise.resolve(owner) },
    });
    return { images, values: new LargeValues(new BlobStore(folder, place), bucket) };
  }

  test('a machine that shares nothing with the one that stored it reads an image; the bucket has nothing of it', async () => {
    const ref = await (await machine()).images.keep('a', SHOT, FACTS, signal);
    const { images } = await machine();
    expect(await images.read('a', ref, signal)).toBe(SHOT.toString('base64'));
    expect(await images.keep('a', SHOT, FACTS, signal)).toEqual(ref);
    const objects = imagesIn(s3.objects(name));
    expect(objects).toEqual([`team/ns/${String(ref.object)}`]);
    expect(ref.object).toMatch(/^a\/images\/[0-9a-f]{64}$/);
    expect(readFileSync(s3.path(name, objects[0] ?? '')).includes(SHOT.subarray(50, 70))).toBe(false);
  });

  test('an image of another agent is not given out', async () => {
    const { images } = await machine();
    const ref = await images.keep('b', SHOT, FACTS, signal);
    await expect(images.read('a', ref, signal)).rejects.toThrow('belongs to another agent');
  });

  test('a machine without the bucket gets all of an image in parts, and it stays', async () => {
    const { images, values } = await machine();
    const ref = await images.keep('a', SHOT, FACTS, signal);
    expect((await values.part(ref, 0)).equals(SHOT)).toBe(true);
    await values.prune(Date.now() + DAY_MS);
    expect(imagesIn(s3.objects(name))).toHaveLength(1);
  });

  test('images stay as long as the server knows their agent, whatever their age, and then go', async () => {
    const { images, values } = await machine((agent) => Promise.resolve(agent === 'gone'));
    await images.keep('gone', SHOT, FACTS, signal);
    const ref = await images.keep('known', SHOT, FACTS, signal);
    const old = new Date(Date.now() - 100 * DAY_MS);
    for (const object of s3.objects(name)) utimesSync(s3.path(name, object), old, old);
    await values.prune();
    expect(imagesIn(s3.objects(name))).toHaveLength(2);
    // A worker that was started with another server.
    const other = await machine(() => Promise.resolve(true), 'other/default');
    await other.images.prune();
    expect(imagesIn(s3.objects(name))).toHaveLength(2);
    await images.prune();
    expect(imagesIn(s3.objects(name))).toEqual([`team/ns/${String(ref.object)}`]);
    expect(s3.objects(name)).toHaveLength(2);
  });
});
