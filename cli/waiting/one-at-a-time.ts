// `up` and `down` of a data folder exclude each other: one that ends what the other is just starting would miss a part of
// it, and both would say something that is no longer so.
import { join } from 'node:path';
import { holdLock } from '../../system/lock';
import { asStorageFailure } from '../../system/storage-failure';
import { note } from '../terminal/terminal-style';

export const operatingLock = (dataDir: string): string => join(dataDir, 'operating.lock');

interface OneAtATimeOptions {
  json?: boolean | undefined;
  /** Begins after so long even if the other has not ended: it may be frozen. Default: waits. */
  patienceMs?: number;
}

/** Runs `work` when no other `up` or `down` of this data folder runs. */
export async function oneAtATime<T>(
  dataDir: string,
  { json = false, patienceMs }: OneAtATimeOptions,
  work: () => Promise<T>,
): Promise<T> {
  const signal = patienceMs === undefined ? undefined : AbortSignal.timeout(patienceMs);
  const onWait = (): void => {
    // A program reads stderr, too: there is one JSON object or nothing.
    if (!json)
      note('Another `holdfast up` or `holdfast down` of this data folder runs; waiting for its end.');
  };
  const release = await holdLock(operatingLock(dataDir), { onWait, ...(signal && { signal }) }).catch(
    (err: unknown) => {
      // On a read-only or full disk a lock may be impossible. What follows says what is wrong there.
      if (!signal?.aborted && asStorageFailure(err) === err) throw err;
      return (): void => undefined;
    },
  );
  try {
    return await work();
  } finally {
    release();
  }
}
