// Watches one file for changes, even if it does not exist yet or gets replaced.
import { readFileSync, unwatchFile, watch, watchFile, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';

/** An editor writes in several steps. */
const SETTLE_MS = 100;
/** For folders without change notification, such as network mounts. */
const LOOK_EVERY_MS = 1_000;

/** Calls `changed` once changed content has settled; returns the function that stops watching. */
export function watchContent(file: string, changed: () => void): () => void {
  let content = read(file);
  let settling: NodeJS.Timeout | undefined;
  const compare = (): void => {
    const now = read(file);
    if (now === content) return;
    content = now;
    changed();
  };
  const look = (): void => {
    clearTimeout(settling);
    settling = setTimeout(compare, SETTLE_MS).unref();
  };
  let folder: FSWatcher | undefined;
  try {
    folder = watch(dirname(file), { persistent: false }, (_event, name) => {
      if (name === null || name === basename(file)) look();
    });
    folder.on('error', () => folder?.close());
  } catch {
    // The folder does not exist yet, or there are too many watchers: polling remains.
  }
  watchFile(file, { persistent: false, interval: LOOK_EVERY_MS }, look);
  return () => {
    clearTimeout(settling);
    folder?.close();
    unwatchFile(file, look);
  };
}

/** Undefined if it does not exist. */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
