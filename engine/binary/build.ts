// Builds the Temporal CLI from our pinned Go module, for machines that cannot reach the vendor's download. go.sum holds
// the checksum of every module, and -mod=readonly makes Go refuse anything unlisted.
import { join } from 'node:path';
import { packageRoot } from '../../system/package-root';
import type { ObtainOptions } from './download';
import { findOnPath } from '../../system/executable';
import { TEMPORAL_CLI_PACKAGE, TEMPORAL_CLI_VERSION } from './pinned';
import { runTool } from './run-tool';

const PROGRESS_EVERY_MS = 1_000;
/** Go prints nothing while a large package compiles, or the linker runs. */
const PROGRESS_IN_SILENCE_MS = 5_000;

/** Builds the pinned Temporal CLI into the folder `into`; returns the path of the executable. Takes minutes. */
export async function buildServer(into: string, { env, progress, signal }: ObtainOptions): Promise<string> {
  const go = findOnPath('go', env.PATH);
  if (go === undefined) throw new Error('no `go` on PATH');
  const tool = {
    cwd: join(packageRoot(), 'engine', 'temporal'),
    // GOTMPDIR: leftovers of a killed build are removed with the folder.
    env: { ...env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOWORK: 'off', GOTMPDIR: into },
    signal,
  };
  progress(
    `Building the Temporal server (CLI ${TEMPORAL_CLI_VERSION}) with Go; the first time takes minutes.`,
  );
  const fetching = startReport(progress, () => 'Fetching the sources of the Temporal server');
  const packages = await runTool(go, ['list', '-deps', TEMPORAL_CLI_PACKAGE], tool).finally(fetching.stop);

  let compiled = 0;
  const compiling = startReport(
    progress,
    () => `Compiled ${compiled} of at most ${packages.length} packages`,
  );
  const path = join(into, 'temporal');
  await runTool(go, ['build', '-v', '-trimpath', '-ldflags', '-s -w', '-o', path, TEMPORAL_CLI_PACKAGE], {
    ...tool,
    onErrorLine: () => {
      compiled += 1;
      compiling.changed();
    },
  }).finally(compiling.stop);
  return path;
}

/** Reports `line` and the elapsed time: at most once a second, and occasionally while nothing changes. */
function startReport(
  progress: (line: string) => void,
  line: () => string,
): { changed: () => void; stop: () => void } {
  const startedAt = Date.now();
  let saidAt = startedAt;
  const sayAfter = (ms: number): void => {
    if (Date.now() - saidAt < ms) return;
    saidAt = Date.now();
    progress(`${line()}, ${Math.round((saidAt - startedAt) / 1000)} s.`);
  };
  const timer = setInterval(() => sayAfter(PROGRESS_IN_SILENCE_MS), PROGRESS_EVERY_MS);
  return { changed: () => sayAfter(PROGRESS_EVERY_MS), stop: () => clearInterval(timer) };
}
