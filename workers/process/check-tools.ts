// Loads the modules with a user's own tools in a process that is thrown away, before the worker that runs is replaced.
// It imports nothing of Temporal's worker, whose start takes most of a second.
import '../../system/compile-cache';
import { parseArgs } from 'node:util';
import { createToolRegistry } from '../../tools/registry';
import { builtInOptions, workersConfiguration } from '../configuration/configuration';
import { exposedNow, moduleFiles, refuseExposed, refuseExposedParts } from '../configuration/exposed';
import { loadTools } from '../configuration/tool-modules';
import { reportFailure } from './start-failure';

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      tools: { type: 'string', multiple: true, default: [] },
      config: { type: 'string' },
    },
  });
  const { data: dataDir, tools: files, config } = values;
  if (!dataDir) throw new Error('--data is missing');
  const configuration = workersConfiguration(dataDir, config ?? null);
  const exposed = exposedNow({ dataDir, config: config ?? null });
  refuseExposedParts(configuration, exposed);
  refuseExposed(moduleFiles(files), exposed);
  const own = await loadTools([...configuration.modules, ...files]);
  createToolRegistry(own, [], builtInOptions(configuration));
  // A module may keep the process alive.
  process.exit(0);
}

main().catch(reportFailure);
