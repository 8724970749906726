// A sandbox covers files with mounts, and the kernel drops a mount when somebody outside replaces or removes its mount
// point, as an editor does that saves by renaming. Then the shell must not continue.
import { lstatSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Polling interval if the kernel has no watches left. */
const LOOK_MS = 1_000;

/** Identifies the file; undefined if it does not exist. */
function identity(path: string): string | undefined {
  try {
    const { dev, ino } = lstatSync(path);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

export class CoverWatch {
  private readonly watchers: FSWatcher[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly known: ReadonlyMap<string, string | undefined>;

  /** Create it before the mounts. `onLost` is called for the first lost mount only. */
  constructor(
    paths: readonly string[],
    private readonly onLost: (path: string) => void,
  ) {
    this.known = new Map(paths.map((path) => [path, identity(path)]));
    try {
      for (const folder of new Set(paths.map((path) => dirname(path)))) this.follow(folder);
    } catch {
      this.poll();
    }
  }

  close(): void {
    clearInterval(this.timer);
    for (const watcher of this.watchers.splice(0)) watcher.close();
  }

  private follow(folder: string): void {
    const names = new Set(
      [...this.known.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path)),
    );
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      if (name === null || names.has(name)) this.look();
    });
    watcher.on('error', () => this.poll());
    this.watchers.push(watcher);
  }

  private poll(): void {
    this.timer ??= setInterval(() => this.look(), LOOK_MS).unref();
  }

  private look(): void {
    const lost = [...this.known].find(([path, was]) => identity(path) !== was)?.[0];
    if (lost === undefined) return;
    this.close();
    this.onLost(lost);
  }
}
