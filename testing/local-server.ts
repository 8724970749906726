// A full Temporal server for one test process: in memory, on a free port, gone with the environment.
import type { DataConverter } from '@temporalio/common';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { messageInterceptors } from '../client/delivery/traced-client';
import { defaultCacheDir } from '../system/data-dir';
import { configArguments } from '../engine/launch';
import { locateServerBinary } from '../engine/binary/locate';
import { startPatiently } from './start-patiently';

/** Throws `engine_missing`, which lists every way that was tried. */
export async function startLocalServer(
  progress: (line: string) => void,
  dataConverter?: DataConverter,
): Promise<TestWorkflowEnvironment> {
  const { env } = process;
  const { path } = await locateServerBinary({ env, cacheDir: defaultCacheDir(env), progress });
  return startPatiently(() =>
    TestWorkflowEnvironment.createLocal({
      client: { ...(dataConverter && { dataConverter }), ...messageInterceptors(dataConverter) },
      server: {
        executable: { type: 'existing-path', path },
        // By default it prints warnings and where it listens.
        log: { format: 'pretty', level: 'error' },
        extraArgs: [...configArguments(), '--output', 'none'],
      },
    }),
  );
}
