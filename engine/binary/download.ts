// The vendor's own download of the Temporal CLI, performed by @temporalio/testing.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isExecutable } from '../../system/executable';
import { TEMPORAL_CLI_VERSION } from './pinned';
import { runTool } from './run-tool';

/** A network that drops packets must not block us: give up after this time without a new byte. */
const STALL_MS = 20_000;
const LOOK_EVERY_MS = 1_000;

/**
 * Runs in a separate process: loading the SDK's runtime takes over SIGINT and fixes the runtime's options for the whole
 * process, and a download inside it could not be aborted. It ends its group when we die.
 */
const CHILD = `
process.stdin.resume().on('end', () => process.kill(0, 'SIGKILL'));
const [testing, downloadDir, version] = process.argv.slice(1);
require(testing).TestWorkflowEnvironment
  .createLocal({ server: { executable: { type: 'cached-download', version, downloadDir } } })
  .then((env) => env.teardown())
  .then(() => process.exit(0), (err) => { console.error(err.message); process.exit(1); });
`;

/** Parameters of each way of getting the server. */
export interface ObtainOptions {
  env: NodeJS.ProcessEnv;
  progress: (line: string) => void;
  signal?: AbortSignal;
}

/** Downloads the pinned Temporal CLI into the empty folder `into`; returns the path of the executable. */
export async function downloadServer(
  into: string,
  { env, progress, signal }: ObtainOptions,
): Promise<string> {
  progress(`Downloading the Temporal server (CLI ${TEMPORAL_CLI_VERSION}).`);
  const stalled = new AbortController();
  const stop = abortWhenStalled(into, stalled, progress);
  try {
    await runTool(
      process.execPath,
      ['-e', CHILD, require.resolve('@temporalio/testing'), into, `v${TEMPORAL_CLI_VERSION}`],
      { env, signal: signal ? AbortSignal.any([signal, stalled.signal]) : stalled.signal },
    );
  } finally {
    stop();
  }
  const executable = readdirSync(into)
    .map((name) => join(into, name))
    .find(isExecutable);
  if (executable === undefined) throw new Error('the download left no executable');
  return executable;
}

/** Watches the folder grow, the only sign of progress that the SDK gives. Returns a function that stops watching. */
function abortWhenStalled(
  folder: string,
  stalled: AbortController,
  progress: (line: string) => void,
): () => void {
  let bytes = 0;
  let grewAt = performance.now();
  const timer = setInterval(() => {
    const now = sizeOf(folder);
    if (now !== bytes) {
      bytes = now;
      grewAt = performance.now();
      progress(`Downloading the Temporal server: ${Math.round(bytes / 1e6)} MB.`);
    } else if (performance.now() - grewAt > STALL_MS) {
      stalled.abort(new Error(`nothing arrived for ${STALL_MS / 1000} s`));
    }
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

function sizeOf(folder: string): number {
  try {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  } catch {
    // A file was renamed during the look; the next look sees it.
    return 0;
  }
}
