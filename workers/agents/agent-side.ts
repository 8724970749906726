// The part that serves agents: the claim of their queue, their worker, and their periodic checks.
import type { Client } from '@temporalio/client';
import { LiveTokens } from '../../activities/agents/live-tokens';
import { ModelMeter } from '../../activities/agents/model-meter';
import type { ClaimFacts } from '../../contracts/sessions/claims';
import type { ModelProviders } from '../../models/providers';
import { createAddressGuard } from '../../system/address-guard';
import { WebhookStore } from '../../system/webhooks/webhook-store';
import type { Tool } from '../../tools/tool';
import { createAgentWorker, type AgentWorkerOptions } from './agent-worker';
import { AgentsClaim, agentsIdentity } from './agents-claim';
import { isEmbeddedServer } from '../../engine/record';
import { Deployment } from './deployment';
import { offerOf } from './agents-offer';
import type { Configuration } from '../configuration/configuration';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { endUnused } from '../worker-stop';
import { AgentsGauges } from '../telemetry/agents-gauges';
import type { WantedMetrics } from '../telemetry/wanted-metrics';
import { EnrolledHosts } from './enrolled-hosts';
import { endPlaintextRuns } from './plaintext-runs';
import { SubAgentSweep } from './sub-agent-sweep';
import { startWebhooks } from './webhook-starts';
import type { AgentSide } from '../workers';
import { workflowBundle } from '../workflow-bundle';

export interface AgentSideOptions extends Omit<
  AgentWorkerOptions,
  'queue' | 'identity' | 'deployment' | 'tokens' | 'webhooks' | 'models'
> {
  facts: ClaimFacts;
  configuration: Configuration;
  /** The embedder's own tools. */
  own: readonly Tool[];
  options: { dataDir: string; models?: ModelProviders; join?: boolean | undefined };
  /** Null: no metrics are wanted. */
  metrics: WantedMetrics | null;
  warn: (message: string, facts: object) => void;
  /** Collects cleanups, in case a later step fails. */
  made: (() => unknown)[];
}

/** Throws `queue_taken` if other workers serve the queue with a different offer. */
export async function createAgentSide({
  facts,
  configuration,
  own,
  options: { dataDir, models: ownModels = {}, join = false },
  metrics,
  warn,
  made,
  ...shared
}: AgentSideOptions): Promise<AgentSide> {
  const { client, connection, dataConverter } = shared;
  const { claims, temporal, server } = client;
  const { queue } = server;
  const tools = shared.tools.describe();
  const offer = offerOf({ tools, ownTools: own, ownModels, configuration, env: process.env });
  const offering = { ...facts, offer };
  const claim = await AgentsClaim.make({ claims, client: temporal, queue, facts: offering, join });
  made.push(() => claim.leave());
  // Only the embedded server is this machine's alone.
  const isServerShared = !isEmbeddedServer(dataDir, client.address);
  const tokens = await LiveTokens.listen(dataDir, isServerShared);
  made.push(() => tokens.close());
  const identity = agentsIdentity(offering);
  const store = new WebhookStore(dataDir);
  const guard = createAddressGuard(configuration.fetch);
  const webhooks = { client, store, guard, env: process.env };
  const bundle = workflowBundle(dataConverter).codePath;
  const { instance } = facts;
  const { versioning } = configuration.deployment;
  const deploymentIn = (namespace: Client): Promise<Deployment | undefined> =>
    Deployment.open({ client: namespace, queue, bundle, versioning, instance, warn });
  const deployment = await deploymentIn(temporal);
  made.push(() => deployment?.leave());
  // Beside the loading of the workflows. What fails here is done again once the worker polls.
  const prepared = deployment?.prepare().catch(() => undefined);
  const models = new ModelMeter();
  const given = { queue, identity, deployment, tokens, webhooks, models };
  const worker = await createAgentWorker({ ...shared, ...given });
  await prepared;
  made.push(() => endUnused(worker));
  const subAgents = new SubAgentSweep(temporal, warn);
  const enrolled = new EnrolledHosts({ client, connection, dataConverter, identity, deploymentIn, warn });
  const startHooks = async (): Promise<void> => {
    // Before the webhooks: each begins anew at once.
    await endPlaintextRuns({ client: temporal, queue, quota: client.quota, warn }).catch((err: unknown) =>
      warn('whether workflows are left from before encryption was required is unknown', {
        reason: reasonOf(err),
      }),
    );
    await startWebhooks({ client, store, webhooks: configuration.webhooks, warn });
  };
  const retries = (): ReturnType<ModelMeter['retries']> => models.retries();
  const gauges = metrics && new AgentsGauges({ client, identity, retries, warn, ...metrics }).looks;
  const close = (): void => tokens.close();
  return { worker, subAgents, enrolled, claim, deployment, gauges, startHooks, close };
}
