// The hosts that a data folder serves or has served: each has a lock there, which its worker holds.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isHeld } from '../system/lock';

/** Also those that are not served now. */
export const knownHosts = (dataDir: string): string[] => lockedHosts(dataDir).map(({ host }) => host);

/** The host that a process serves from this folder now; undefined if none does. */
export const servedHost = (dataDir: string): string | undefined =>
  lockedHosts(dataDir).find(({ path }) => isHeld(path))?.host;

function lockedHosts(dataDir: string): { host: string; path: string }[] {
  try {
    return readdirSync(dataDir)
      .sort()
      .flatMap((file) => {
        const host = /^worker\.(.+)\.lock$/.exec(file)?.[1];
        return host === undefined ? [] : [{ host, path: join(dataDir, file) }];
      });
  } catch {
    // There is no folder yet.
    return [];
  }
}
