// What a worker that replaces another loads and checks while that one still runs: a fault ends it, and the other one stays.
import { connectTemporal, resolveServer, type ServerChoice } from '../../client/connect';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { missingNamespace } from '../../contracts/errors/server-away';
import { createToolRegistry } from '../../tools/registry';
import { builtInOptions, workersConfiguration } from '../configuration/configuration';
import { exposedNow, moduleFiles, refuseExposed, refuseExposedParts } from '../configuration/exposed';
import { loadTools } from '../tools/tool-modules';

interface Wanted extends ServerChoice {
  dataDir: string;
  tools: readonly string[];
  config?: string | null | undefined;
}

/**
 * Node keeps the modules, so the worker gets the same ones. Throws what the configuration and the modules throw,
 * `no_server` and `namespace_missing`.
 */
export async function loadBeforehand({
  dataDir,
  tools: files,
  config = null,
  ...server
}: Wanted): Promise<void> {
  const configuration = workersConfiguration(dataDir, config);
  const exposed = exposedNow({ dataDir, config });
  refuseExposedParts(configuration, exposed);
  refuseExposed(moduleFiles(files), exposed);
  const own = await loadTools([...configuration.modules, ...files]);
  createToolRegistry(own, [], builtInOptions(configuration));
  await findNamespace(server);
}

async function findNamespace(choice: ServerChoice): Promise<void> {
  const { connection, options, workflowService } = await connectTemporal(resolveServer(choice, process.env));
  try {
    await workflowService.describeNamespace({ namespace: options.namespace });
  } catch (err) {
    const got = missingNamespace(err);
    if (got !== undefined) throw new HoldfastError('namespace_missing', { got });
    // Where one may poll but not describe, the worker finds out by itself.
  } finally {
    await connection.close();
  }
}
