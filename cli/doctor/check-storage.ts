// `holdfast doctor` on the disk: how much of their limits the logs, the large values and the images use.
import { BlobFolder, type BlobFile } from '../../activities/blobs/blob-folder';
import { inMib, usageOf } from '../../activities/blobs/blob-room';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { DAY_MS, type BucketPlace, type Quotas } from '../../contracts/sessions/quotas';
import { asFile } from '../../activities/blobs/bucket-store';
import { openS3Bucket } from '../../activities/blobs/s3-bucket';
import { logUsage, type LogUsage } from '../../exec/host/log-quota';
import { workersConfiguration } from '../../workers/configuration/configuration';
import type { CheckpointSettings } from '../../contracts/workspaces/settings';
import { checkpointStores } from '../../workers/host/host-workspaces';
import { blobFolder } from '../../workers/open-blobs';
import { counted } from '../../contracts/text/counted';

interface Found {
  status: 'ok' | 'warn' | 'fail';
  found: string;
  next?: string;
}

/** Somebody waits for the doctor: a store that is away for longer is a finding. */
const TRY_MS = 3_000;
const PROBE = '.probe/doctor';
/** Above this, calls may soon be refused. */
const NEARLY_FULL = 0.9;

/** Reads the limits as the worker of this data folder would. */
export async function checkStorage(
  dataDir: string,
  namespace = 'default',
): Promise<{ logs: Found; values: Found; checkpoints: Found; bucket?: Found }> {
  try {
    const { storage, checkpoints } = workersConfiguration(dataDir);
    const folder = new BlobFolder(blobFolder(dataDir));
    const [files, images] = [await folder.list(), await folder.listImages()];
    const found = {
      logs: logsOf(dataDir, storage),
      values: valuesOf(files, storage, images),
      checkpoints: checkpointsOf(dataDir, checkpoints),
    };
    return storage.bucket ? { ...found, bucket: await bucketOf(storage.bucket, namespace, storage) } : found;
  } catch (err) {
    const fault: Found = { status: 'fail', found: reasonOf(err), next: 'fix that, then check again' };
    return { logs: fault, values: fault, checkpoints: fault };
  }
}

function logsOf(dataDir: string, { sessionLogBytes, hostLogBytes, closedSessionMs }: Quotas): Found {
  const ofHost = ({ host, bytes, sessions, largest }: LogUsage): string => {
    const { agent, session } = largest.ref;
    const most = `session ${session} of ${agent} with ${share(largest.bytes, sessionLogBytes)}`;
    return `host ${host}: ${share(bytes, hostLogBytes)} in ${counted(sessions, 'session')}, the largest ${most}`;
  };
  const used = logUsage(dataDir).map(ofHost);
  const found = [...used, `closed ones are kept for ${closedSessionMs / DAY_MS} days`].join('; ');
  // At their limit they drop their oldest part: no action needed.
  return { status: 'ok', found: used.length > 0 ? found : 'none' };
}

function checkpointsOf(dataDir: string, { enabled, storeBytes }: CheckpointSettings): Found {
  if (enabled === 'off') return { status: 'ok', found: 'off (`enabled` in [checkpoints])' };
  const stores = checkpointStores(dataDir).map(({ host, bytes }) => ({
    found: `host ${host}: ${share(bytes, storeBytes)}`,
    isFull: bytes >= NEARLY_FULL * storeBytes,
  }));
  const found = stores.map((store) => store.found).join('; ') || 'none yet';
  if (!stores.some(({ isFull }) => isFull)) return { status: 'ok', found };
  return {
    status: 'warn',
    found,
    next: 'end agents that nobody needs, or raise `store_mb` in `[checkpoints]`',
  };
}

/** Writes, reads, lists and removes an object there, as a worker does. */
async function bucketOf(place: BucketPlace, namespace: string, limits: Quotas): Promise<Found> {
  try {
    const bucket = await openS3Bucket(place, namespace, TRY_MS);
    const signal = AbortSignal.timeout(10 * TRY_MS);
    await bucket.put(PROBE, Buffer.from(PROBE), signal);
    if (String(await bucket.get(PROBE, signal)) !== PROBE)
      throw new Error('it returns other bytes than it was given');
    const { found, ...rest } = valuesOf((await bucket.list()).flatMap(asFile), limits);
    await bucket.remove(PROBE);
    return { ...rest, found: `${bucket.url}: ${found}` };
  } catch (err) {
    const next = err instanceof HoldfastError ? err.next : 'use a store that speaks the protocol of S3';
    return { status: 'fail', found: reasonOf(err), next };
  }
}

function valuesOf(
  files: readonly BlobFile[],
  { valueBytes, agentValueBytes }: Quotas,
  images: readonly BlobFile[] = [],
): Found {
  const { bytes, agents } = usageOf(files);
  const [most] = [...agents].sort(([, a], [, b]) => b - a);
  const held = most ? `, the most by calls of ${most[0]}: ${share(most[1], agentValueBytes)}` : '';
  const shown = images.length > 0 ? `; images: ${share(usageOf(images).bytes, valueBytes)}` : '';
  const found = `${share(bytes, valueBytes)}${held}${shown}`;
  const isFull = bytes >= NEARLY_FULL * valueBytes || (most?.[1] ?? 0) >= NEARLY_FULL * agentValueBytes;
  if (!isFull) return { status: 'ok', found };
  return { status: 'warn', found, next: 'end open calls, or raise the limits in `[storage]`' };
}

const share = (bytes: number, allowed: number): string => `${inMib(bytes)} of ${inMib(allowed)}`;
