// What the routes work with: one client for everything, and facts about this gateway.
import type { MetricMeter } from '@temporalio/common';
import type { HoldfastClient } from '../client/holdfast-client';
import type { SessionRef } from '../contracts/ids';
import type { ReportSpan } from '../contracts/telemetry/trace';
import type { RegistryRecord } from '../contracts/tools/registry-record';
import type { WebhookStore } from '../system/webhooks/webhook-store';
import type { ChangeAudit } from './access/change-audit';
import type { FailedLogins } from './access/failed-logins';
import type { TokenStore } from './access/token-store';
import type { AgentFeeds } from './events/agent-feed';
import type { OverviewFeed } from './events/overview-feed';
import type { DismissedRuns } from './inbox/dismissed-runs';
import type { NamedImages } from './images/named-images';
import type { OidcAccess } from './oidc/oidc-access';
import type { Waits } from './waits-of-clients';

export interface GatewayContext {
  client: HoldfastClient;
  dataDir: string;
  namespace: string;
  /** The address of a workflow's page in Temporal's web UI, without a token; null if none is known. */
  workflowAddress: (workflowId: string) => string | null;
  /** Whether this machine has the shells of a host: then terminals and logs are read directly. */
  isLocal: (host: SessionRef['host']) => boolean;
  /** Whether the data folder has a host of this name that is another machine's, on another server or in another namespace. */
  isElsewhere: (host: SessionRef['host']) => boolean;
  /** For hosts that listen. */
  hostToken: string | undefined;
  /** The tools of the data folder's worker; undefined if none runs. */
  registry: () => RegistryRecord | undefined;
  tokens: TokenStore;
  webhooks: WebhookStore;
  /** Null: no issuer is configured. */
  oidc: OidcAccess | null;
  /** What is watched for those who follow events. */
  feeds: AgentFeeds;
  overview: OverviewFeed;
  /** Failed agents that a person has put away. */
  dismissed: DismissedRuns;
  /** Which images conversations name. */
  images: NamedImages;
  failedLogins: FailedLogins;
  waits: Waits;
  /** Aborts when the gateway ends: streams end by themselves. */
  over: AbortSignal;
  audit: ChangeAudit;
  log: GatewayLog;
  /** Null: no metrics are wanted. */
  meter: MetricMeter | null;
  /** Null: no traces are wanted. */
  reportSpan: ReportSpan | null;
}

/** For operators. No token, no message, no code. */
export interface GatewayLog {
  warn(message: string, facts?: Record<string, unknown>): void;
}
