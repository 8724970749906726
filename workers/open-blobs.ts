// The store of large values: the team's bucket or the data folder. Keeps it within its limits and removes values that
// cannot be requested any more.
import { join } from 'node:path';
import { BlobStore } from '../activities/blobs/blob-store';
import { BucketStore, type BucketStoreOptions } from '../activities/blobs/bucket-store';
import { ImageFiles } from '../activities/blobs/image-files';
import { ImageObjects } from '../activities/blobs/image-objects';
import type { AgentsServer } from '../activities/blobs/image-owners';
import { ImageStore } from '../activities/blobs/image-store';
import { LargeValues } from '../activities/blobs/large-values';
import { openS3Bucket } from '../activities/blobs/s3-bucket';
import type { Client } from '@temporalio/client';
import { fetchBlob } from '../client/delivery/fetch-blob';
import { agentWorkflowId, isHostNamespace } from '../contracts/ids';
import type { StorageSettings } from '../contracts/sessions/quotas';
import { SealedValues } from '../encryption/sealed-values';
import { describeIfThere } from './agents/ended-agents';
import { sessionOwner } from './host/orphan-sweep';
import { RepeatedLook } from './repeated-look';
import type { ServerConnection } from './server-connection';
import type { WorkersLog } from './workers';

const PRUNE_EVERY_MS = 600_000;

export const blobFolder = (dataDir: string): string => join(dataDir, 'blobs');

/** @param at task queue through which other machines fetch values stored here */
export async function openBlobs(options: {
  dataDir: string;
  at: string;
  server: Pick<ServerConnection, 'client' | 'namespace' | 'dataConverter'>;
  storage: StorageSettings;
  log: WorkersLog;
}): Promise<{ blobs: LargeValues; images: ImageStore; closeBlobs: () => void }> {
  const { dataDir, at, server, storage, log } = options;
  const { client, namespace, dataConverter } = server;
  const fetch: ConstructorParameters<typeof BlobStore>[1]['fetch'] = (ref, signal) =>
    fetchBlob(client, ref, signal);
  const folder = new BlobStore(blobFolder(dataDir), { at, fetch }, storage);
  const warn: BucketStoreOptions['warn'] = (message, facts) => log.warn(message, { ...facts });
  const inBucket = storage.bucket && {
    bucket: await openS3Bucket(storage.bucket, namespace),
    sealing: new SealedValues(dataConverter, namespace),
    limits: storage,
  };
  const bucket = inBucket && new BucketStore({ ...inBucket, at, warn });
  const blobs = new LargeValues(folder, bucket);
  const images = new ImageStore({
    files: new ImageFiles(blobFolder(dataDir), storage),
    objects: inBucket && new ImageObjects(inBucket),
    bucket,
    place: { at, fetch },
    server: isHostNamespace(namespace) ? null : agentsServer(client.temporal),
  });
  const failed = (reason: string): void => log.warn('large values could not be checked', { reason });
  const prune = async (): Promise<void> => {
    await blobs.prune();
    await images.prune();
  };
  const looks = new RepeatedLook(prune, failed, PRUNE_EVERY_MS);
  looks.start({ now: true });
  return { blobs, images, closeBlobs: () => looks.stop() };
}

/** Until the server has forgotten an agent, people can read its conversation. */
function agentsServer(client: Client): AgentsServer {
  return {
    owner: () => sessionOwner(client),
    isGone: async (agent) => (await describeIfThere(client, agentWorkflowId(agent))) === undefined,
  };
}
