// Composes the workers: agents on `holdfast`, and one host's shells. `holdfast up` runs them in a separate process, an
// embedder in the embedding one. The only place that puts the parts together.
import { join } from 'node:path';
import { Runtime } from '@temporalio/worker';
import { CodeChecks } from '../checks/code-checks';
import type { CheckCode } from '../activities/host/command-gate';
import { CancelledCalls } from '../activities/cancelled-calls';
import { QuotaGate } from '../activities/agents/quota-gate';
import { resolvedOn, ToolRulings } from '../activities/tools/tool-ruling';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { missingNamespace } from '../contracts/errors/server-away';
import type { Place } from '../contracts/tools/approvals';
import type { PolicySettings } from '../contracts/tools/policy';
import { LOCAL_HOST, checkedId, checkedQueue, hostTaskQueue } from '../contracts/ids';
import { encryptedPayloads } from '../encryption/data-converter';
import { isEmbeddedServer } from '../engine/record';
import { makeFolder } from '../system/make-folder';
import { requireNode } from '../system/node-version';
import type { Terminals } from '../exec/terminals';
import { refuseOwnData } from '../exec/own-folder';
import { usualWorkingFolder } from '../exec/working-folder';
import { createDialects } from '../models/dialects/dialects';
import { createProviders } from '../models/providers';
import { OfferedTools } from '../tools/offered-tools';
import { checkedTools } from '../tools/check-tool';
import { createToolRegistry } from '../tools/registry';
import { builtInOptions, configurationSource } from './configuration/configuration';
import { createAgentSide } from './agents/agent-side';
import { placesWithCheckpoints } from './configuration/configured-checkpoints';
import { claimHost } from './host/claim-host';
import { secretStore } from './configuration/configured-secrets';
import { configureTools } from './tools/configured-tools';
import {
  exposedNow,
  loadedPlaces,
  outsideProgram,
  trustedSecrets,
  type Exposed,
} from './configuration/exposed';
import { ownFacts } from './host/host-claim';
import { createHostSide } from './host/host-side';
import { FolderClaim } from './folder-claim';
import { openBlobs } from './open-blobs';
import { openSessions, type SessionParts } from './host/open-sessions';
import { publishRegistry } from './tools/registry-record';
import { hasToldAttributes } from './search-attributes';
import { connectServer } from './server-connection';
import { TaskJournal, agentTasks } from './process/task-journal';
import { openSpans } from './telemetry/span-exporter';
import { wantedMetrics } from './telemetry/wanted-metrics';
import { Workers, type WorkersLog } from './workers';
import { checkWorkersOptions, type WorkersOptions } from './workers-options';

/**
 * Connects and creates the workers; `run()` starts them, `close()` ends them. Throws `invalid_input`, `tool_invalid`,
 * `tool_name_taken`, `tools_not_loaded` and `config_invalid` before it connects to anything; `worker_running`, `no_server`
 * and `namespace_missing`;
 * `folder_in_use` if the data folder is used on another machine, or is a copy of one that is used;
 * `host_taken` if the host belongs to another data folder, and `queue_taken` if other workers serve agents with a
 * different offer; `node_too_old` before Node 22.13; `sandbox_missing` if one is required but unavailable.
 */
export async function createWorkers(options: WorkersOptions): Promise<Workers> {
  checkWorkersOptions(options);
  const { dataDir, host, workdir } = options;
  if (host !== null && workdir !== undefined) refuseOwnData(dataDir, workdir);
  const { program: python, path } = outsideProgram('python3', exposedIn(options));
  return composeWorkers(options, openSessions, new CodeChecks({ python, path }));
}

/** A process without a host exposes nothing: it has no sessions. */
const exposedIn = ({ dataDir, config, workdir, host }: WorkersOptions): Exposed =>
  host === null
    ? { roots: [], dataDir }
    : exposedNow({ dataDir, config: config ?? null, workdir: workdir ?? null });

/** The sessions of a host: real ones, or a test's substitute. */
type OpenSessions = (options: WorkersOptions, parts: SessionParts) => Promise<Terminals>;

const NEITHER = 'false for a process that serves only a host';

/** Like `createWorkers`, with the host's sessions and the checks of its commands as parameters. */
export async function composeWorkers(
  options: WorkersOptions,
  open: OpenSessions,
  checks: CheckCode,
): Promise<Workers> {
  requireNode();
  const { dataDir, agents = true } = options;
  const log: WorkersLog = options.log ?? Runtime.instance().logger;
  const exposed = exposedIn(options);
  const configured = await configureTools({ dataDir, config: options.config, exposed, log });
  const own = [...configured.tools, ...checkedTools(options.tools ?? [])];
  const { checkpoints } = options;
  const configuration = checkpoints
    ? {
        ...configured.configuration,
        checkpoints: { ...configured.configuration.checkpoints, enabled: checkpoints },
      }
    : configured.configuration;
  // A process with agents runs such tools itself.
  const elsewhere = agents ? undefined : new OfferedTools();
  const sources = [configured.source, ...(elsewhere ? [elsewhere] : [])];
  const tools = createToolRegistry(own, sources, builtInOptions(configuration));
  const findProvider = createProviders(options.models, configuration.models);
  const findDialect = createDialects(configuration.dialects);
  const host = options.host === null ? null : checkedId('host', options.host ?? LOCAL_HOST);
  if (host === null && !agents)
    throw new HoldfastError('invalid_input', {
      what: '`agents`',
      got: 'false without a host',
      allowed: NEITHER,
    });
  if (options.queue !== undefined) checkedQueue(options.queue);
  const secrets = secretStore(trustedSecrets(configuration.secrets, exposed), process.env);
  const { file } = configurationSource({ dataDir, config: options.config });
  const loaded = loadedPlaces(configuration, file, exposed);
  makeFolder(dataDir);
  // Undone, last first, if a later step fails.
  const made: (() => unknown)[] = [];
  try {
    const release = host === null ? (): void => undefined : await claimHost(dataDir, host);
    made.push(release);
    const dataConverter = options.dataConverter ?? encryptedPayloads(configuration.encryption);
    const server = await connectServer({ ...options, dataConverter });
    made.push(() => server.close());
    const { connection, namespace, client } = server;
    const hasAttributes =
      agents && (await hasToldAttributes(client.temporal, (message, facts) => log.warn(message, facts)));
    const facts = ownFacts(dataDir);
    const agentsQueue = client.server.queue;
    const queues = [...(agents ? [agentsQueue] : []), ...(host === null ? [] : [hostTaskQueue(host)])];
    const warn = (message: string, given: object): void => log.warn(message, { ...given });
    const { claims, temporal } = client;
    const isOwnServer = isEmbeddedServer(dataDir, client.address);
    const claimed = { claims, client: temporal, facts: { ...facts, queues }, isOwnServer, warn };
    const folder = await FolderClaim.make(claimed);
    made.push(() => folder.leave());
    // One per process: another process's open tasks are not orphans.
    const journal = new TaskJournal(
      agents ? agentTasks(dataDir) : join(dataDir, `tasks.${host}`),
      facts.instance,
    );
    made.push(() => journal.close());
    // A host's queue belongs to this folder only; workers of other folders may poll that of the agents.
    const at = host === null ? agentsQueue : hostTaskQueue(host);
    const { storage } = configuration;
    const { blobs, images, closeBlobs } = await openBlobs({ dataDir, at, server, storage, log });
    made.push(closeBlobs);
    made.push(() => configured.close());
    const policy = (): PolicySettings => configured.policy();
    const rulings = new ToolRulings(tools, policy, checks, resolvedOn(host));
    made.push(() => checks.close());
    const { drainMs } = options;
    const values = { blobs, images };
    const shared = {
      connection,
      namespace,
      dataConverter,
      client,
      journal,
      tools,
      ...values,
      rulings,
      cancelled: new CancelledCalls(),
      drainMs,
    };
    const quota = new QuotaGate({
      counter: client.quota,
      limits: () => configured.quota(),
    });
    const metrics = wantedMetrics(configuration.telemetry);
    const { telemetry } = configuration;
    const spans = await openSpans(telemetry, 'worker', (message, facts) => log.warn(message, facts));
    made.push(() => spans?.close());
    const tracing = spans && { tell: spans.tell, content: telemetry.content };
    const given = { ...shared, facts, configuration, metrics, tracing, made };
    const workdir = options.workdir ?? usualWorkingFolder(dataDir);
    const isPlace = placesWithCheckpoints(configuration.checkpoints, workdir);
    // A host in a namespace of its own takes no activities of turns.
    const hasCheckpoints = async (place: Place): Promise<boolean> =>
      isPlace(place) && (await client.namespaces.clientOf(place.host)) === client.temporal;
    const serving = { quota, hasAttributes, own, options, findProvider, findDialect, hasCheckpoints };
    const agentOptions = { ...given, ...serving, warn };
    const hostOptions = {
      ...given,
      dataDir,
      secrets,
      loaded,
      elsewhere,
      policy,
      checks,
      listen: options.listen,
      log: warn,
    };
    const openParts = (parts: SessionParts): Promise<Terminals> => open({ ...options, log }, parts);
    // In parallel: loading the workflows takes longer than all the rest, and uses another processor.
    const [agentSide, hostSide] = await both(
      agents ? createAgentSide(agentOptions) : undefined,
      host === null ? undefined : createHostSide({ ...hostOptions, host, open: openParts }),
    );
    // Only once this process may serve. MCP servers run where the agents are.
    configured.start(agents);
    const unpublish = agents ? publishRegistry(dataDir, tools, configured, log) : (): void => undefined;
    made.push(unpublish);
    const closeTools = (): Promise<void> => (closeBlobs(), unpublish(), checks.close(), configured.close());
    const { hostWorker, ownership } = hostSide ?? {};
    const parts = {
      server,
      journal,
      agentSide,
      hostWorker,
      folder,
      release,
      closeTools,
      metrics,
      spans,
      log,
    };
    const workers = new Workers(parts);
    const onLost = (err: HoldfastError): void => workers.fail(err);
    ownership?.watch(onLost);
    folder.watch(onLost);
    return workers;
  } catch (err) {
    for (const undo of made.reverse())
      await Promise.resolve()
        .then(undo)
        .catch(() => undefined);
    throw missingNamespace(err) ?? err;
  }
}

/** Both results, or the first error once both have settled. */
async function both<A, B>(first: A, second: B): Promise<[Awaited<A>, Awaited<B>]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}
