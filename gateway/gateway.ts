// The gateway of `holdfast serve`: an HTTP API, and the page that is its first client. It holds no state of its own: what
// it says comes from the workflows, the hosts' logs and the holders, so several may run side by side.
import { createServer, type Server } from 'node:http';
import { limitRequests } from './http/limit-requests';
import { getRequestListener } from '@hono/node-server';
import { serverTrouble } from '../client/delivery/server-trouble';
import type { MetricMeter } from '@temporalio/common';
import type { OidcSettings } from '../contracts/gateway/oidc';
import type { ReportSpan } from '../contracts/telemetry/trace';
import { gauge } from '../contracts/telemetry/metrics';
import { listenAt, WILDCARDS } from '../system/listen-at';
import { packageVersion } from '../system/package-root';
import { WebhookStore } from '../system/webhooks/webhook-store';
import { ChangeAudit } from './access/change-audit';
import { FailedLogins } from './access/failed-logins';
import { TokenStore } from './access/token-store';
import { AgentFeeds } from './events/agent-feed';
import { OverviewFeed } from './events/overview-feed';
import type { GatewayContext } from './gateway-context';
import { createApp, HEALTH, READINESS, serveRoutes, type App } from './http/serve-routes';
import { openApi } from './http/open-api';
import { DismissedRuns } from './inbox/dismissed-runs';
import { NamedImages } from './images/named-images';
import { OidcAccess } from './oidc/oidc-access';
import { servePage } from './page';
import { ALL_ROUTES } from './routes/all-routes';
import { isUpgrade, serveTerminals } from './terminals/terminal-server';
import { Waits } from './waits-of-clients';

export interface GatewayOptions extends Omit<
  GatewayContext,
  | 'tokens'
  | 'oidc'
  | 'webhooks'
  | 'audit'
  | 'failedLogins'
  | 'feeds'
  | 'over'
  | 'overview'
  | 'dismissed'
  | 'images'
  | 'waits'
  | 'meter'
  | 'reportSpan'
> {
  /** `ADDRESS:PORT`; port 0 picks a free one. */
  listen: string;
  /** Further names, with or without a port, under which it is reached: by a proxy, or by another machine. */
  names?: readonly string[];
  /** The issuer that lets people and programs in, beside tokens. */
  oidc?: OidcSettings | null;
  /** Takes metrics. Default: none are wanted. */
  meter?: MetricMeter | null;
  /** Takes spans. Default: no traces are wanted. */
  reportSpan?: ReportSpan | null;
}

export interface Gateway {
  /** `http://127.0.0.1:7280` */
  url: string;
  tokens: TokenStore;
  /** Ends all connections: clients resume elsewhere, or later. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 2_000;
const COUNT_EVERY_MS = 5_000;
const HEADERS_MS = 10_000;
/**
 * How long a connection without a request stays open. Longer than proxies keep theirs (nginx and AWS: 60 s): one that is
 * closed just when a request is sent costs its client that request.
 */
const KEEP_ALIVE_MS = 75_000;
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** Throws `invalid_input` and `listen_failed`. */
export async function startGateway({ listen, names = [], ...options }: GatewayOptions): Promise<Gateway> {
  const over = new AbortController();
  const context = contextOf(options, over.signal);
  const { tokens, meter } = context;
  const server = createLimitedServer();
  const { address, port } = await listenAt(server, listen, '--listen');
  const stopCounting = meter ? countConnections(server, meter) : (): void => undefined;
  const door = { hosts: hostsOf(address, port, names) };
  const app = createApp(door);
  serveOwnFacts(app, context);
  serveRoutes(app, ALL_ROUTES, context);
  servePage(app);
  const answer = getRequestListener(app.fetch);
  server.on('request', (request, response) => void answer(request, response));
  const closeTerminals = serveTerminals(server, context, door);
  return {
    url: `http://${WILDCARDS.includes(address) ? 'localhost' : address}:${port}`,
    tokens,
    close: async () => {
      over.abort();
      stopCounting();
      closeTerminals();
      await closeServer(server);
    },
  };
}

/** What all requests share. Throws `invalid_input`. */
function contextOf(
  { oidc: issuer, meter = null, reportSpan = null, ...facts }: Omit<GatewayOptions, 'listen' | 'names'>,
  over: AbortSignal,
): GatewayContext {
  const oidc = issuer ? new OidcAccess(issuer) : null;
  const dismissed = new DismissedRuns(facts.dataDir);
  return {
    ...facts,
    tokens: new TokenStore(facts.dataDir, oidc?.rules),
    webhooks: new WebhookStore(facts.dataDir),
    oidc,
    feeds: new AgentFeeds(),
    overview: new OverviewFeed(dismissed),
    dismissed,
    images: new NamedImages(),
    failedLogins: new FailedLogins(),
    waits: new Waits(),
    audit: new ChangeAudit(facts.dataDir, (text) => facts.log.warn(text)),
    over,
    meter,
    reportSpan,
  };
}

function createLimitedServer(): Server {
  const server = createServer({
    ...{ headersTimeout: HEADERS_MS, keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 },
    // Node before 22.21 (and 24.9) ignores this, and hands over every request that offers a protocol as one for a terminal.
    shouldUpgradeCallback: isUpgrade,
  });
  limitRequests(server);
  server.maxConnections = MAX_CONNECTIONS;
  return server;
}

/** What the gateway says of itself: its API's description, that it runs, and whether the Temporal server answers it. */
function serveOwnFacts(app: App, { client, over }: GatewayContext): void {
  // Made once: it takes tens of milliseconds, and needs no token.
  let document: object | undefined;
  app.get('/openapi.json', (c) => c.json((document ??= openApi(ALL_ROUTES, packageVersion()))));
  app.get(HEALTH, (c) => c.json({ ok: true }));
  app.get(READINESS, async (c) => {
    const reason = over.aborted ? 'it is stopping' : await serverTrouble(client);
    return c.json({ ok: reason === null, ...(reason !== null && { reason }) }, reason === null ? 200 : 503);
  });
}

async function closeServer(server: Server): Promise<void> {
  server.closeIdleConnections();
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    // Streams of events end by themselves now. A client that does not read must not keep the gateway from ending.
    setTimeout(() => server.closeAllConnections(), 1_000).unref();
  });
}

/** From now on, until the returned function is called. */
function countConnections(server: Server, meter: MetricMeter): () => void {
  gauge(meter, 'holdfast_start_time_seconds', {}, Date.now() / 1_000);
  const look = (): void => {
    server.getConnections((_, open) => gauge(meter, 'holdfast_http_connections', {}, open));
  };
  look();
  const timer = setInterval(look, COUNT_EVERY_MS).unref();
  return () => clearInterval(timer);
}

/** Of a gateway on all addresses, only this machine's own names and those that were given. */
function hostsOf(address: string, port: number, names: readonly string[]): string[] {
  const own = [...LOOPBACK, ...WILDCARDS].includes(address) ? LOOPBACK : [address];
  const withPort = [...own, ...names].map((name) => (/:\d+$/.test(name) ? name : `${name}:${port}`));
  // Browsers leave out port 80, and 443 of a proxy that ends TLS.
  const without = port === 80 ? [...own, ...names] : names;
  return [...withPort, ...without].map((name) => name.toLowerCase());
}
