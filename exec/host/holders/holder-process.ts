// The process of a holder: it outlives its starter and reports to it over a channel when it is ready.
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { compiledEntry } from '../../../system/package-root';

/**
 * @param args of exec/holder/main.ts, which the build bundles with all that it loads
 * @param path the PATH for programs that the holder itself runs
 */
export function startHolderProcess(args: readonly string[], logPath: string, path: string): ChildProcess {
  const log = openSync(logPath, 'a', 0o600);
  const compiled = getCompileCacheDir();
  try {
    return spawn(process.execPath, [compiledEntry('holder.js'), ...args], {
      detached: true,
      cwd: '/',
      env: { PATH: path, ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }) },
      stdio: ['ignore', log, log, 'ipc'],
    });
  } finally {
    closeSync(log);
  }
}
