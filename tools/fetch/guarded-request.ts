// One HTTP request whose connection goes to an address that the guard allows, or to a proxy of the environment: for the tool `fetch` and for webhooks. Uses
// Node's own client: it accepts a resolver, and so the guard, for each connection, and adds no dependency.
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressGuard } from '../../system/address-guard';
import { proxyFor, proxyHeaders } from '../../system/http/proxies';
import { openTunnel } from '../../system/http/tunnel';

export interface GuardedRequest {
  url: URL;
  method: 'GET' | 'HEAD' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: string;
  signal: AbortSignal;
  guard: AddressGuard;
}

export interface GuardedResponse {
  /** Its body is not read yet. A redirect is an answer like any other. */
  response: http.IncomingMessage;
  /** Ends the connection. */
  close: () => void;
}

/** The code that parses the address checks the scheme. */
export const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

/** Throws `address_refused`, and whatever the connection fails with. */
export async function guardedRequest(request: GuardedRequest): Promise<GuardedResponse> {
  const { url, method, headers, body, signal, guard } = request;
  guard.checkHost(url);
  signal.throwIfAborted();
  const proxy = proxyFor(url);
  if (proxy) await guard.checkName(url);
  const by = proxy ? await throughProxy(proxy, request) : { to: url, lookup: guard.lookupFor(url), headers };
  return new Promise((resolve, reject) => {
    const { to, ...options } = by;
    const { request: send } = to.protocol === 'https:' ? https : http;
    const sent = send(
      to,
      // A separate connection: one that was opened for another address must not serve this one.
      { method, signal, agent: false, ...options },
      (response) => resolve({ response, close: () => sent.destroy() }),
    );
    // Stays attached: an error while the body is being read also reaches the reader.
    sent.on('error', reject);
    // Without this listener, Node ends such a request in silence.
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error('it answers 101 and switches to another protocol, allowed an answer of HTTP'));
    });
    // However else it ends: no time limit reaches a request that is over.
    sent.on('close', () => reject(new Error('the connection ended without an answer')));
    sent.end(body);
  });
}

/** A connection to the proxy, for https through it to the server. */
async function throughProxy(
  proxy: URL,
  { url, headers, signal }: GuardedRequest,
): Promise<
  { to: URL } & Pick<http.RequestOptions, 'headers' | 'path' | 'auth' | 'agent' | 'createConnection'>
> {
  if (url.protocol === 'http:')
    return {
      to: new URL(proxy.origin),
      path: `${url.origin}${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host, ...proxyHeaders(proxy) },
      ...(url.username && { auth: [url.username, url.password].map(decodeURIComponent).join(':') }),
    };
  const socket = await openTunnel(proxy, { host: url.hostname, port: Number(url.port || 443), signal });
  // An agent, even one of its own, would open another connection.
  return { to: url, headers, agent: undefined, createConnection: () => socket };
}
