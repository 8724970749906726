// `fetch` through the proxies of the environment, and without Node's own limit of five minutes for answers that may take
// longer: callers set their own. Node's `fetch` reads the environment only from Node 24 on, and only with an option.
import { proxyFor, proxyHeaders } from './proxies';
import { openTunnel } from './tunnel';

/** The part of Node's HTTP client that handles each request; Node's types do not include it. */
interface Dispatcher {
  dispatch(options: Dispatched, handler: object): boolean;
}

interface Dispatched {
  origin?: string | URL;
  path?: string;
  headers?: unknown;
}

type Connected = (err: Error | null, socket: object | null) => void;
type AgentClass = new (options: {
  connect: (to: { hostname: string; port: string }, connected: Connected) => void;
}) => Dispatcher;

/** Where Node keeps the dispatcher that `fetch` uses; it exists once one of the classes of `fetch` has been looked at. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');
const NO_LIMITS = { headersTimeout: 0, bodyTimeout: 0 };

export const patientFetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
  proxiedFetch(url, init, NO_LIMITS);

/** Throws `config_invalid` for a proxy that cannot be used. */
export async function proxiedFetch(
  url: string | URL | Request,
  init?: RequestInit,
  limits: object = {},
): Promise<Response> {
  const to = new URL(url instanceof Request ? url.url : url);
  // Within the dispatcher it would be a fault of the network.
  proxyFor(to);
  const dispatcher = (globalThis as Record<symbol, Dispatcher | undefined>)[GLOBAL_DISPATCHER];
  if (!dispatcher) return fetch(url, init);
  const own: Dispatcher = {
    dispatch: (options, handler) => through(dispatcher, { ...options, ...limits }, handler),
  };
  return fetch(url, { ...init, dispatcher: own } as RequestInit);
}

function through(dispatcher: Dispatcher, options: Dispatched, handler: object): boolean {
  const to = new URL(String(options.origin));
  const proxy = hasOwnProxies(dispatcher) ? undefined : proxyFor(to);
  if (!proxy) return dispatcher.dispatch(options, handler);
  if (to.protocol === 'https:') return tunnelsThrough(dispatcher, proxy).dispatch(options, handler);
  // RFC 9112, 3.2.2: the proxy is asked for the whole address.
  const path = `${to.origin}${options.path ?? '/'}`;
  const headers = withHeaders(options.headers, { host: to.host, ...proxyHeaders(proxy) });
  return dispatcher.dispatch({ ...options, origin: proxy.origin, path, headers }, handler);
}

/** Node is set to read the environment itself (NODE_USE_ENV_PROXY). */
const hasOwnProxies = (dispatcher: Dispatcher): boolean => dispatcher.constructor.name.includes('Proxy');

/** Kept, so that connections are used again. By the proxy's whole address. */
const tunnels = new Map<string, Dispatcher>();

function tunnelsThrough(dispatcher: Dispatcher, proxy: URL): Dispatcher {
  const known = tunnels.get(proxy.href);
  if (known) return known;
  const Agent = dispatcher.constructor as AgentClass;
  const made = new Agent({
    connect: ({ hostname, port }, connected) => {
      openTunnel(proxy, { host: hostname, port: Number(port || 443) }).then(
        (socket) => connected(null, socket),
        (err: unknown) => connected(err as Error, null),
      );
    },
  });
  tunnels.set(proxy.href, made);
  return made;
}

/** `fetch` hands headers over as an object, or as a list of names and values. */
function withHeaders(headers: unknown, more: Record<string, string>): unknown {
  if (Array.isArray(headers)) return [...(headers as unknown[]), ...Object.entries(more).flat()];
  return { ...(headers as object), ...more };
}
