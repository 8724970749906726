// Composes the workers: agents on `holdfast`, and one host's shells. `holdfast up` runs them in a separate process, an
// embedder in the embedding one. The only place that puts the parts together.
import { join } from 'node:path';
import { CodeChecks } from '../checks/code-checks';
import type { CheckCode } from '../activities/host/command-gate';
import { CancelledCalls } from '../activities/cancelled-calls';
import { QuotaGate } from '../activities/agents/quota-gate';
import { resolvedOn, ToolRulings } from '../activities/tools/tool-ruling';
import type { HoldfastError } from '../contracts/errors/holdfast-error';
import { missingNamespace } from '../contracts/errors/server-away';
import type { Place } from '../contracts/tools/approvals';
import type { PolicySettings } from '../contracts/tools/policy';
import { hostTaskQueue } from '../contracts/ids';
import { encryptedPayloads } from '../encryption/data-converter';
import { isEmbeddedServer } from '../engine/record';
import { makeFolder } from '../system/make-folder';
import { requireNode } from '../system/node-version';
import type { Terminals } from '../exec/terminals';
import { refuseOwnData } from '../exec/own-folder';
import { usualWorkingFolder } from '../exec/working-folder';
import { createAgentSide } from './agents/agent-side';
import { placesWithCheckpoints } from './configuration/configured-checkpoints';
import { outsideProgram } from './configuration/exposed';
import { claimHost } from './host/claim-host';
import { ownFacts } from './host/host-claim';
import { createHostSide, type HostSideOptions } from './host/host-side';
import { FolderClaim } from './folder-claim';
import { openBlobs } from './open-blobs';
import { openSessions, type SessionParts } from './host/open-sessions';
import { publishRegistry } from './tools/registry-record';
import { hasStateAttributes } from './search-attributes';
import { connectServer } from './server-connection';
import { TaskJournal, agentTasks } from './process/task-journal';
import { openSpans } from './telemetry/span-exporter';
import { wantedMetrics } from './telemetry/wanted-metrics';
import { Workers } from './workers';
import { exposedIn, planWorkers, type WorkersPlan } from './workers-plan';
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

/** The sessions of a host: real ones, or a test's substitute. */
type OpenSessions = (options: WorkersOptions, parts: SessionParts) => Promise<Terminals>;

/** What to undo, last first, if a later step fails. */
type Undo = (() => unknown)[];

/** Like `createWorkers`, with the host's sessions and the checks of its commands as parameters. */
export async function composeWorkers(
  options: WorkersOptions,
  open: OpenSessions,
  checks: CheckCode,
): Promise<Workers> {
  requireNode();
  const plan = await planWorkers(options);
  const { configured, log } = plan;
  makeFolder(options.dataDir);
  const made: Undo = [() => checks.close(), () => configured.close()];
  try {
    const ground = await openGround(options, plan, made);
    const sides = await openSides({ options, plan, ground, checks, made }, (parts) =>
      open({ ...options, log }, parts),
    );
    // Only once this process may serve. MCP servers run where the agents are.
    configured.start(plan.agents);
    const unpublish = plan.agents
      ? publishRegistry(options.dataDir, plan.tools, configured, log)
      : (): void => undefined;
    made.push(unpublish);
    const closeTools = (): Promise<void> => {
      ground.closeBlobs();
      unpublish();
      checks.close();
      return configured.close();
    };
    const { ownership, ...served } = sides;
    const workers = new Workers({ ...ground, ...served, closeTools, log });
    // They fail when another process takes over what is theirs.
    const onLost = (err: HoldfastError): void => workers.fail(err);
    ownership?.watch(onLost);
    ground.folder.watch(onLost);
    return workers;
  } catch (err) {
    for (const undo of made.reverse())
      await Promise.resolve()
        .then(undo)
        .catch(() => undefined);
    throw missingNamespace(err) ?? err;
  }
}

/** What agents and hosts stand on: the claim of the data folder, the connection, the journal and the large values. */
async function openGround(
  options: WorkersOptions,
  { agents, host, configuration, log }: WorkersPlan,
  made: Undo,
) {
  const { dataDir } = options;
  const release = host === null ? (): void => undefined : await claimHost(dataDir, host);
  made.push(release);
  const dataConverter = options.dataConverter ?? encryptedPayloads(configuration.encryption);
  const server = await connectServer({ ...options, dataConverter });
  made.push(() => server.close());
  const { claims, temporal, address, server: names } = server.client;
  const warn = (message: string, given: object): void => log.warn(message, { ...given });
  const hasAttributes = agents && (await hasStateAttributes(temporal, warn));
  const facts = ownFacts(dataDir);
  const hostQueues = host === null ? [] : [hostTaskQueue(host)];
  const folder = await FolderClaim.make({
    claims,
    client: temporal,
    facts: { ...facts, queues: [...(agents ? [names.queue] : []), ...hostQueues] },
    isOwnServer: isEmbeddedServer(dataDir, address),
    warn,
  });
  made.push(() => folder.leave());
  // One per process: another process's open tasks are not orphans.
  const journal = new TaskJournal(
    agents ? agentTasks(dataDir) : join(dataDir, `tasks.${host}`),
    facts.instance,
  );
  made.push(() => journal.close());
  // A host's queue belongs to this folder only; workers of other folders may poll that of the agents.
  const at = hostQueues[0] ?? names.queue;
  const { storage, telemetry } = configuration;
  const { blobs, images, closeBlobs } = await openBlobs({ dataDir, at, server, storage, log });
  made.push(closeBlobs);
  const spans = await openSpans(telemetry, 'worker', warn);
  made.push(() => spans?.close());
  const metrics = wantedMetrics(telemetry);
  return {
    release,
    server,
    hasAttributes,
    facts,
    folder,
    journal,
    blobs,
    images,
    closeBlobs,
    spans,
    metrics,
    warn,
  };
}

interface Composed {
  options: WorkersOptions;
  plan: WorkersPlan;
  ground: Awaited<ReturnType<typeof openGround>>;
  checks: CheckCode;
  made: Undo;
}

async function openSides(composed: Composed, open: HostSideOptions['open']) {
  const { plan, checks } = composed;
  const { agents, host, configured } = plan;
  const policy = (): PolicySettings => configured.policy();
  const shared = {
    ...sharedParts(composed),
    rulings: new ToolRulings(plan.tools, policy, checks, resolvedOn(host)),
    cancelled: new CancelledCalls(),
  };
  const { options, ground } = composed;
  const forHost = (name: string): HostSideOptions => ({
    ...shared,
    host: name,
    dataDir: options.dataDir,
    secrets: plan.secrets,
    loaded: plan.loaded,
    elsewhere: plan.elsewhere,
    policy,
    checks,
    listen: options.listen,
    log: ground.warn,
    open,
  });
  // In parallel: loading the workflows takes longer than all the rest, and uses another processor.
  const [agentSide, hostSide] = await both(
    agents ? createAgentSide({ ...shared, ...partsOfAgents(composed) }) : undefined,
    host === null ? undefined : createHostSide(forHost(host)),
  );
  return { agentSide, hostWorker: hostSide?.hostWorker, ownership: hostSide?.ownership };
}

/** What both sides use. */
function sharedParts({ options, plan, ground, made }: Composed) {
  const { server, journal, blobs, images, facts, metrics, spans } = ground;
  const { client, connection, namespace, dataConverter } = server;
  const { tools, configuration } = plan;
  const content = configuration.telemetry.content;
  return {
    ...{ client, connection, namespace, dataConverter },
    ...{ journal, tools, blobs, images, facts, configuration, metrics, made },
    drainMs: options.drainMs,
    tracing: spans && { reportSpan: spans.reportSpan, content },
  };
}

/** What only agents use. */
function partsOfAgents({ options, plan, ground }: Composed) {
  const { client } = ground.server;
  const { own, configured, configuration, findProvider, findDialect } = plan;
  const workdir = options.workdir ?? usualWorkingFolder(options.dataDir);
  const isPlace = placesWithCheckpoints(configuration.checkpoints, workdir);
  return {
    ...{ own, options, findProvider, findDialect },
    quota: new QuotaGate({ counter: client.quota, limits: () => configured.quota() }),
    hasAttributes: ground.hasAttributes,
    // A host in a namespace of its own takes no activities of turns.
    hasCheckpoints: async (place: Place) =>
      isPlace(place) && (await client.namespaces.clientOf(place.host)) === client.temporal,
    warn: ground.warn,
  };
}

/** Both results, or the first error once both have settled. */
async function both<A, B>(first: A, second: B): Promise<[Awaited<A>, Awaited<B>]> {
  const [a, b] = await Promise.allSettled([first, second]);
  if (a.status === 'rejected') throw a.reason;
  if (b.status === 'rejected') throw b.reason;
  return [a.value, b.value];
}
