// What a process is to serve, from its options and its configuration: all of it is read and checked before it connects to
// anything.
import { Runtime } from '@temporalio/worker';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { LOCAL_HOST, checkedId, checkedQueue } from '../contracts/ids';
import { createDialects } from '../models/dialects/dialects';
import { createProviders } from '../models/providers';
import { checkedTools } from '../tools/check-tool';
import { OfferedTools } from '../tools/offered-tools';
import { createToolRegistry, type ToolRegistry } from '../tools/registry';
import type { Tool } from '../tools/tool';
import { builtInOptions, configurationSource, type Configuration } from './configuration/configuration';
import { secretStore } from './configuration/configured-secrets';
import { exposedNow, loadedPlaces, trustedSecrets, type Exposed } from './configuration/exposed';
import { configureTools, type ConfiguredTools } from './tools/configured-tools';
import type { WorkersLog } from './workers';
import type { WorkersOptions } from './workers-options';

export interface WorkersPlan {
  /** Whether it serves agents. */
  agents: boolean;
  /** Null: it serves no host. */
  host: string | null;
  configured: ConfiguredTools;
  configuration: Configuration;
  /** Those of the modules and of the embedder. */
  own: readonly Tool[];
  tools: ToolRegistry;
  /** Tools of the agents' worker, if that is another process. */
  elsewhere: OfferedTools | undefined;
  findProvider: ReturnType<typeof createProviders>;
  findDialect: ReturnType<typeof createDialects>;
  secrets: ReturnType<typeof secretStore>;
  loaded: ReturnType<typeof loadedPlaces>;
  log: WorkersLog;
}

/** Throws `invalid_input`, `tool_invalid`, `tool_name_taken`, `tools_not_loaded` and `config_invalid`. */
export async function planWorkers(options: WorkersOptions): Promise<WorkersPlan> {
  const { dataDir, config, agents = true } = options;
  const host = servedHost(options);
  const log = options.log ?? Runtime.instance().logger;
  const exposed = exposedIn(options);
  const configured = await configureTools({ dataDir, config, exposed, log });
  const configuration = withCheckpoints(configured.configuration, options.checkpoints);
  const own = [...configured.tools, ...checkedTools(options.tools ?? [])];
  // A process with agents runs such tools itself.
  const elsewhere = agents ? undefined : new OfferedTools();
  const sources = [configured.source, ...(elsewhere ? [elsewhere] : [])];
  const { file } = configurationSource({ dataDir, config });
  return {
    agents,
    host,
    configured,
    configuration,
    own,
    tools: createToolRegistry(own, sources, builtInOptions(configuration)),
    elsewhere,
    findProvider: createProviders(options.models, configuration.models),
    findDialect: createDialects(configuration.dialects),
    secrets: secretStore(trustedSecrets(configuration.secrets, exposed), process.env),
    loaded: loadedPlaces(configuration, file, exposed),
    log,
  };
}

/** A process without a host exposes nothing: it has no sessions. */
export const exposedIn = ({ dataDir, config, workdir, host }: WorkersOptions): Exposed =>
  host === null
    ? { roots: [], dataDir }
    : exposedNow({ dataDir, config: config ?? null, workdir: workdir ?? null });

function servedHost({ host = LOCAL_HOST, agents = true, queue }: WorkersOptions): string | null {
  if (host === null && !agents)
    throw new HoldfastError('invalid_input', {
      what: '`agents`',
      got: 'false without a host',
      allowed: 'false for a process that serves only a host',
    });
  if (queue !== undefined) checkedQueue(queue);
  return host === null ? null : checkedId('host', host);
}

const withCheckpoints = (
  configuration: Configuration,
  enabled: WorkersOptions['checkpoints'],
): Configuration =>
  enabled ? { ...configuration, checkpoints: { ...configuration.checkpoints, enabled } } : configuration;
