// The folder on a host from which scripts load the tool stubs. Its content is replaced as a whole, so that a script
// never loads half of it; open sessions see new stubs on their next access.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { StubFile } from '../../contracts/tools/tools';

export class StubFolder {
  /** The path given to scripts: constant, whatever it contains. */
  readonly folder: string;

  constructor(private readonly home: string) {
    this.folder = join(home, 'current');
  }

  /** Nothing has been published, or it has been deleted. */
  get isEmpty(): boolean {
    return !existsSync(this.folder);
  }

  /** Publishes these files. The previous set stays for scripts that are still reading it. */
  publish(files: readonly StubFile[]): void {
    const name = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
    const directory = join(this.home, name);
    if (!existsSync(directory)) write(directory, files);
    const before = this.shown();
    if (before === name) return;
    const link = join(this.home, `link-${process.pid}`);
    rmSync(link, { force: true });
    symlinkSync(name, link);
    renameSync(link, this.folder);
    for (const other of readdirSync(this.home))
      if (![name, before, 'current'].includes(other))
        rmSync(join(this.home, other), { recursive: true, force: true });
  }

  private shown(): string | undefined {
    try {
      return readlinkSync(this.folder);
    } catch {
      return undefined;
    }
  }
}

function write(directory: string, files: readonly StubFile[]): void {
  const draft = `${directory}.draft`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  for (const { path, content, executable } of files) {
    mkdirSync(dirname(join(draft, path)), { recursive: true });
    writeFileSync(join(draft, path), content, { mode: executable ? 0o700 : 0o600 });
  }
  renameSync(draft, directory);
}
