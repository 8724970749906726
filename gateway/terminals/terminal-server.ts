// Takes WebSocket upgrades for terminals: judged like requests, and refused in-band, because a browser shows of a refused
// upgrade only the number 1006.
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { TERMINAL_PROTOCOL, type FromServer } from '../../contracts/gateway/terminal';
import type { SessionRef } from '../../contracts/ids';
import { requireAgent, type Caller } from '../access/grants';
import { callerOf, watchCaller } from '../access/who';
import type { GatewayContext } from '../gateway-context';
import { refusalOf, type FrontDoor } from '../http/front-door';
import { problemOf } from '../http/problem';
import { checkedParams } from '../http/read-request';
import { endSoon, refuse } from './refuse';
import { TerminalConnection } from './terminal-connection';

const PATH = /^\/v1\/sessions\/([^/]+)\/([^/]+)\/([^/]+)\/terminal$/;
const MAX_MESSAGE_BYTES = 128 * 1024;
const MAX_TERMINALS = 1_000;
/** A browser that is gone without a word is noticed by its missing pong. */
const PING_MS = 20_000;

/** As the audit log names it. */
const WHAT = 'GET /v1/sessions/{agent}/{host}/{session}/terminal';
const SWITCHING_PROTOCOLS = 101;

const ALIVE = JSON.stringify({ kind: 'alive' } satisfies FromServer);

/**
 * For the server that `serveTerminals` gets. Other protocols are only offers, and their requests are like all others: Java's
 * HttpClient, for example, offers HTTP/2 in clear text (`h2c`).
 */
export const isUpgrade = ({ headers }: IncomingMessage): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/** Returns the function that ends all connections. */
export function serveTerminals(server: Server, context: GatewayContext, door: FrontDoor): () => void {
  let served = 0;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (offered) => (offered.has(TERMINAL_PROTOCOL) ? TERMINAL_PROTOCOL : false),
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    // A page of another site must not even get a connection.
    const reason = refusalOf({ ...door, method: 'GET', headers: request.headers });
    if (reason !== undefined) return socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
    // Before the upgrade: nothing that the client sends after it may be missed.
    const asking = callerOf(request.headers, context).then(
      (caller) => () => caller,
      (err: unknown) => () => {
        throw err;
      },
    );
    return void asking.then((callerOrThrow) =>
      sockets.handleUpgrade(request, socket, head, (client) => welcome(client, request, callerOrThrow)),
    );
  });
  const welcome = (client: WebSocket, request: IncomingMessage, callerOrThrow: () => Caller): void => {
    client.on('error', () => client.terminate());
    let caller: Caller | undefined;
    const audit = (err?: unknown): void => writeAudit(context, { request, caller, err });
    try {
      caller = callerOrThrow();
      // Strangers, who are refused but may stay for a while, take no place of others.
      if (served >= MAX_TERMINALS)
        throw new HoldfastError('resources_exhausted', {
          resource: 'terminals',
          reason: `this gateway serves ${MAX_TERMINALS} at a time`,
        });
      const ref = sessionOf(request);
      requireAgent(caller, ref.agent);
      const connection = new TerminalConnection(client, ref, { context, caller, audit });
      const stop = watchCaller(caller, {
        headers: request.headers,
        registers: context,
        refused: (err) => connection.refuse(err),
      });
      keepAlive(client);
      served++;
      client.once('close', () => (served--, stop(), connection.close()));
    } catch (err) {
      audit(err);
      refuse(client, err);
    }
  };
  return () => {
    for (const client of sockets.clients) {
      client.close(GOING_AWAY);
      endSoon(client);
    }
    sockets.close();
  };
}

/** RFC 6455, 7.4.1: the client may come again. */
const GOING_AWAY = 1001;

/**
 * A line for a client that gets the keyboard, and for one that may not have what it asks for. Not for other failures: a page
 * comes back again and again to a terminal that is out of reach.
 */
function writeAudit(
  { audit }: GatewayContext,
  { request, caller, err }: { request: IncomingMessage; caller: Caller | undefined; err: unknown },
): void {
  const problem = err === undefined ? undefined : problemOf(err);
  if (problem && ![401, 403].includes(problem.status)) return;
  audit.write({
    who: caller?.id ?? null,
    name: caller?.name ?? null,
    from: request.socket.remoteAddress ?? 'unknown',
    what: WHAT,
    path: pathOf(request),
    status: problem?.status ?? SWITCHING_PROTOCOLS,
    ...(problem && { code: problem.code }),
  });
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

function sessionOf(request: IncomingMessage): SessionRef {
  const [, agent, host, session] = PATH.exec(pathOf(request)) ?? [];
  if (!agent || !host || !session)
    throw new HoldfastError('not_found', {
      what: 'A terminal under this path',
      got: request.url ?? '',
      allowed: '/v1/sessions/AGENT/HOST/SESSION/terminal',
      next: 'See docs/api.md.',
    });
  checkedParams({ agent, host, session });
  return { agent, host, session: Number(session) };
}

function keepAlive(client: WebSocket): void {
  let isAlive = true;
  client.on('pong', () => (isAlive = true));
  const timer = setInterval(() => {
    if (!isAlive) return client.terminate();
    isAlive = false;
    client.ping();
    client.send(ALIVE, () => undefined);
  }, PING_MS);
  client.once('close', () => clearInterval(timer));
}
