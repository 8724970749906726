// The worker process that `holdfast up` starts detached. It reports that it is ready by a record in the data folder.
import '../../system/compile-cache';
import { parseArgs } from 'node:util';
import { armCrashPoint } from '../../system/faults/crash-point';
import { LOCAL_HOST } from '../../contracts/ids';
import { waitForTurn } from '../../system/processes/detached-process';
import { loadBeforehand } from './load-beforehand';
import { runWorker } from './run-worker';
import { reportFailure } from './start-failure';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      address: { type: 'string' },
      namespace: { type: 'string' },
      profile: { type: 'string' },
      host: { type: 'string', default: LOCAL_HOST },
      'agents-only': { type: 'boolean', default: false },
      queue: { type: 'string' },
      join: { type: 'boolean', default: false },
      workdir: { type: 'string' },
      tools: { type: 'string', multiple: true, default: [] },
      config: { type: 'string' },
      'stand-by': { type: 'boolean', default: false },
    },
  });
  if (!values.data) throw new Error('--data is missing');
  armCrashPoint(process.env.HOLDFAST_CRASH_FILE);
  const { data: dataDir } = values;
  const wanted = { ...values, dataDir, host: values['agents-only'] ? null : values.host };
  await waitForTurn(values['stand-by'] ? () => loadBeforehand(wanted) : undefined);
  // Only now: a module that cannot be loaded must not keep all later workers from starting.
  await runWorker({ ...wanted, isLasting: true });
}

// All is released then. What still waits for an answer of the server, such as the call of a script, is asked again by the
// next worker, and must not keep this process alive until it is killed.
main().then(() => process.exit(), reportFailure);
