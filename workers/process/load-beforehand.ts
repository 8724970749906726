// What a worker that replaces another loads while that one still runs: a fault ends it, and the other one stays.
import { createToolRegistry } from '../../tools/registry';
import { builtInOptions, workersConfiguration } from '../configuration/configuration';
import { exposedNow, moduleFiles, refuseExposed, refuseExposedParts } from '../configuration/exposed';
import { loadTools } from '../tools/tool-modules';

/** Node keeps the modules, so the worker gets the same ones. Throws what the configuration and the modules throw. */
export async function loadBeforehand({
  dataDir,
  tools: files,
  config = null,
}: {
  dataDir: string;
  tools: readonly string[];
  config?: string | null | undefined;
}): Promise<void> {
  const configuration = workersConfiguration(dataDir, config);
  const exposed = exposedNow({ dataDir, config });
  refuseExposedParts(configuration, exposed);
  refuseExposed(moduleFiles(files), exposed);
  const own = await loadTools([...configuration.modules, ...files]);
  createToolRegistry(own, [], builtInOptions(configuration));
}
