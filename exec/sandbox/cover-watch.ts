// What a sandbox covers is covered by mounts, and the kernel takes a mount away where somebody outside replaces or
// removes what it lies on: an editor that saves by renaming does. Then the shell must not go on.
import { lstatSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Where the kernel has no watch left. */
const LOOK_MS = 1_000;

/** Which thing it is; undefined for what is not there. */
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

  /** To be made before the mounts are; `onLost` is told of the first that is lost, and of no other. */
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
