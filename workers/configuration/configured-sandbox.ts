// `[sandbox]` of `holdfast.toml`, in the host's terms.
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SandboxEntry } from '../../contracts/schemas/configuration/sandbox-configuration';
import type { SandboxChoice } from '../../exec/sandbox/open-sandbox';

/** Paths are relative to the file's folder, and `~` is the home folder. */
export function configuredSandbox(entry: SandboxEntry, folder: string): SandboxChoice {
  const { mode, network, git, limits } = entry;
  const place = (path: string): string =>
    path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : resolve(folder, path);
  return {
    mode,
    network,
    git,
    writable: entry.writable.map(place),
    readable: entry.readable.map(place),
    hidden: entry.hidden.map(place),
    limits: {
      processes: limits.processes,
      memoryMb: limits.memory_mb,
      cpuSec: limits.cpu_sec,
      fileMb: limits.file_mb,
      openFiles: limits.open_files,
    },
  };
}
