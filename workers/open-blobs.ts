// The data folder's store of large values: keeps it within its limits and removes values that nobody can request any
// more.
import { join } from 'node:path';
import { BlobStore } from '../activities/blobs/blob-store';
import { fetchBlob } from '../client/delivery/fetch-blob';
import type { HoldfastClient } from '../client/holdfast-client';
import type { Quotas } from '../contracts/sessions/quotas';
import { RepeatedLook } from './repeated-look';
import type { WorkersLog } from './workers';

const PRUNE_EVERY_MS = 600_000;

export const blobFolder = (dataDir: string): string => join(dataDir, 'blobs');

/** @param at task queue through which other machines fetch values stored here */
export function openBlobs(options: {
  dataDir: string;
  at: string;
  client: HoldfastClient;
  limits: Quotas;
  log: WorkersLog;
}): { blobs: BlobStore; closeBlobs: () => void } {
  const { dataDir, at, client, limits, log } = options;
  const fetch: ConstructorParameters<typeof BlobStore>[1]['fetch'] = (ref, signal) =>
    fetchBlob(client, ref, signal);
  const blobs = new BlobStore(blobFolder(dataDir), { at, fetch }, limits);
  const failed = (reason: string): void => log.warn('large values could not be checked', { reason });
  const looks = new RepeatedLook(() => blobs.prune(), failed, PRUNE_EVERY_MS);
  looks.start({ now: true });
  return { blobs, closeBlobs: () => looks.stop() };
}
