// The team's store of large values in S3, or in a server that speaks its protocol. Repeats what may pass by itself; all
// other failures are reported as `bucket_failed`.
import { addAbortSignal, Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type * as Aws from '@aws-sdk/client-s3';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { bucketUrl, type BucketPlace } from '../../contracts/sessions/quotas';
import type { Bucket, BucketObject } from './bucket-store';

/** A store that is away for a moment costs a call time, not its result. Also enough for 16 MiB over a slow line. */
const TRY_MS = 60_000;
const AGAIN_MS = 500;
const MOST_AGAIN_MS = 5_000;
const CONNECT_MS = 5_000;
/** Servers of others ask for any. */
const ANY_REGION = 'us-east-1';
/** Client errors that pass: timeouts and limits. */
const PASSING_STATUS = [408, 429];

type Sdk = typeof Aws;

/** Loads the client library now: processes without a bucket never do. Credentials come from AWS's usual places. */
export async function openS3Bucket(place: BucketPlace, namespace: string, tryMs = TRY_MS): Promise<S3Bucket> {
  return new S3Bucket(await import('@aws-sdk/client-s3'), { ...place, namespace, tryMs });
}

class S3Bucket implements Bucket {
  readonly url: string;
  private readonly client: Aws.S3Client;
  private readonly folder: string;

  constructor(
    private readonly sdk: Sdk,
    private readonly options: BucketPlace & { namespace: string; tryMs: number },
  ) {
    const { prefix, endpoint, region, pathStyle, namespace } = options;
    this.url = bucketUrl(options);
    this.folder = `${prefix && `${prefix}/`}${namespace}/`;
    this.client = new sdk.S3Client({
      ...(endpoint !== undefined && { endpoint, region: ANY_REGION }),
      ...(region !== undefined && { region }),
      forcePathStyle: pathStyle,
      requestHandler: { connectionTimeout: CONNECT_MS },
      // Values are compared with their hash; not every server knows these checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    });
  }

  async put(name: string, content: Buffer, signal: AbortSignal): Promise<void> {
    const input = { ...this.object(name), Body: content };
    await this.repeated(signal, (abortSignal) =>
      this.client.send(new this.sdk.PutObjectCommand(input), { abortSignal }),
    );
  }

  get(name: string, signal: AbortSignal): Promise<Buffer | undefined> {
    return this.repeated(signal, async (abortSignal) => {
      try {
        const command = new this.sdk.GetObjectCommand(this.object(name));
        const { Body: body } = await this.client.send(command, { abortSignal });
        // The client heeds the signal until the answer begins.
        if (body instanceof Readable) addAbortSignal(abortSignal, body);
        return Buffer.from((await body?.transformToByteArray()) ?? []);
      } catch (err) {
        if (err instanceof this.sdk.NoSuchKey) return undefined;
        throw err;
      }
    });
  }

  async remove(name: string): Promise<void> {
    await this.repeated(undefined, (abortSignal) =>
      this.client.send(new this.sdk.DeleteObjectCommand(this.object(name)), { abortSignal }),
    );
  }

  async list(): Promise<BucketObject[]> {
    const found: BucketObject[] = [];
    const { bucket } = this.options;
    for (let next: string | undefined, more = true; more;) {
      const input = { Bucket: bucket, Prefix: this.folder, ContinuationToken: next };
      const page = await this.repeated(undefined, (abortSignal) =>
        this.client.send(new this.sdk.ListObjectsV2Command(input), { abortSignal }),
      );
      for (const { Key: key = '', Size: bytes = 0, LastModified: at } of page.Contents ?? [])
        found.push({ name: key.slice(this.folder.length), bytes, changedAt: at?.getTime() ?? Date.now() });
      next = page.NextContinuationToken;
      more = next !== undefined;
    }
    return found;
  }

  private object(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.options.bucket, Key: this.folder + name };
  }

  private async repeated<T>(
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { tryMs } = this.options;
    const endAt = performance.now() + tryMs;
    // The client repeats what may pass, too: it has no more time than we do.
    const timeUp = AbortSignal.timeout(tryMs);
    const over = signal ? AbortSignal.any([signal, timeUp]) : timeUp;
    const failed = (reason: string): Error =>
      new HoldfastError('bucket_failed', { bucket: this.url, reason });
    let before = '';
    for (let pause = AGAIN_MS; ; pause = Math.min(2 * pause, MOST_AGAIN_MS)) {
      try {
        return await work(over);
      } catch (err) {
        signal?.throwIfAborted();
        if (timeUp.aborted) throw failed(`no whole answer within ${tryMs} ms${before}`);
        const reason = reasonIn(err);
        before = `; before that: ${reason}`;
        if (!mayPass(err) || performance.now() + pause > endAt) throw failed(reason);
        await delay(pause, undefined, { ...(signal && { signal }) });
      }
    }
  }
}

interface AwsError {
  name?: string;
  $metadata?: { httpStatusCode?: number };
}

/** Not what the store itself refuses, nor missing credentials. */
function mayPass(err: unknown): boolean {
  const { name, $metadata } = err as AwsError;
  if (name === 'CredentialsProviderError') return false;
  const status = $metadata?.httpStatusCode;
  return status === undefined || status >= 500 || PASSING_STATUS.includes(status);
}

/** The code of the store's answer comes first: messages of servers differ, and some are empty. */
function reasonIn(err: unknown): string {
  const { name = '', $metadata } = err as AwsError;
  const status = $metadata?.httpStatusCode;
  const words = reasonOf(err);
  if (status === undefined) return name === 'AggregateError' || !words ? 'it cannot be reached' : words;
  return [name, words !== name && words, `(HTTP ${status})`].filter(Boolean).join(' ');
}
