// What a worker that replaces another loads and checks while that one still runs: a fault ends it, and the other one stays.
import { connectTemporal, resolveServer, type ServerChoice } from '../../client/connect';
import { HoldfastClient } from '../../client/holdfast-client';
import { missingNamespace } from '../../contracts/errors/server-away';
import type { Offer } from '../../contracts/sessions/claims';
import { encryptedPayloads } from '../../encryption/data-converter';
import { refuseOwnData } from '../../exec/own-folder';
import { wantedWorkingFolder } from '../../exec/working-folder';
import { createToolRegistry } from '../../tools/registry';
import { AgentsClaim } from '../agents/agents-claim';
import { offerOf } from '../agents/agents-offer';
import {
  builtInOptions,
  configurationSource,
  workersConfiguration,
  type Configuration,
} from '../configuration/configuration';
import {
  exposedNow,
  loadedPlaces,
  moduleFiles,
  refuseExposed,
  refuseExposedParts,
} from '../configuration/exposed';
import { HostClaim, ownFacts } from '../host/host-claim';
import { confinedEnvironment } from '../host/open-sessions';
import { loadTools } from '../tools/tool-modules';
import { instanceOf } from './task-journal';
import { runningWorker } from './worker-record';

interface Wanted extends ServerChoice {
  dataDir: string;
  tools: readonly string[];
  config?: string | null | undefined;
  /** Null for agents alone. */
  host: string | null;
  queue?: string | undefined;
  join: boolean;
  workdir?: string | undefined;
}

/**
 * Node keeps the modules, so the worker gets the same ones. Throws what the configuration and the modules throw,
 * `invalid_input`, `no_server`, `namespace_missing`, `sandbox_missing`, `host_taken` and `queue_taken`.
 */
export async function loadBeforehand(wanted: Wanted): Promise<void> {
  const { dataDir, tools: files, config = null } = wanted;
  const configuration = workersConfiguration(dataDir, config);
  const workdir = wantedWorkingFolder(dataDir, wanted.workdir, process.env);
  const exposed = exposedNow({ dataDir, config, workdir });
  refuseExposedParts(configuration, exposed);
  refuseExposed(moduleFiles(files), exposed);
  const ownTools = await loadTools([...configuration.modules, ...files]);
  const tools = createToolRegistry(ownTools, [], builtInOptions(configuration)).describe();
  if (wanted.host !== null) await tryFolder(wanted, configuration);
  const offer = offerOf({ tools, ownTools, ownModels: {}, configuration, env: process.env });
  await checkServer(wanted, configuration, offer);
}

/** Where shells begin, and their sandbox: the worker warns where that is only preferred. */
async function tryFolder(wanted: Wanted, configuration: Configuration): Promise<void> {
  const { dataDir, config } = wanted;
  const workdir = wantedWorkingFolder(dataDir, wanted.workdir, process.env);
  refuseOwnData(dataDir, workdir);
  const { sandbox: choice } = configuration;
  if (choice.mode !== 'required') return;
  const exposed = exposedNow({ dataDir, config: config ?? null, workdir });
  const { file } = configurationSource({ dataDir, config: config ?? undefined });
  const loaded = loadedPlaces(configuration, file, exposed);
  await confinedEnvironment({ dataDir, workdir }, { choice, loaded, stubs: undefined }, () => undefined);
}

/** Whether the namespace is there, and whether the host and the queue are free once the other worker has ended. */
async function checkServer(wanted: Wanted, { encryption }: Configuration, offer: Offer): Promise<void> {
  const { dataDir, host, queue, join } = wanted;
  const server = resolveServer(wanted, process.env);
  const dataConverter = encryptedPayloads(encryption);
  const temporal = await connectTemporal(server, { dataConverter });
  try {
    await findNamespace(temporal);
    const client = new HoldfastClient(temporal, server.address, { queue });
    const { claims } = client;
    const facts = ownFacts(dataDir);
    if (host !== null) await HostClaim.check({ claims, host, facts });
    const before = runningWorker(dataDir);
    const replaced = before && instanceOf(dataDir, before.identity);
    const claiming = {
      claims,
      client: temporal,
      queue: client.server.queue,
      facts: { ...facts, offer },
      join,
    };
    await AgentsClaim.check(claiming, replaced);
  } finally {
    await temporal.connection.close();
  }
}

async function findNamespace({
  options,
  workflowService,
}: Awaited<ReturnType<typeof connectTemporal>>): Promise<void> {
  try {
    await workflowService.describeNamespace({ namespace: options.namespace });
  } catch (err) {
    const missing = missingNamespace(err);
    if (missing) throw missing;
    // Where one may poll but not describe, the worker finds out by itself.
  }
}
