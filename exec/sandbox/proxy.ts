// The HTTP proxy of a sandbox (RFC 9110, 3.7 and 9.3.6): the only way out of its network, to the named hosts. Uses
// Node's own client and server: they accept a resolver, and with it the address check, for each connection.
import * as http from 'node:http';
import { connect, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { hostOf } from '../../system/address-guard';
import { addressRefusal, portOf, type NamedHosts } from './named-hosts';

/** Headers of the connection, not of the resource (RFC 9110, 7.6.1). */
const OF_CONNECTION = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
];
/** Each costs the holder two descriptors; further ones are refused. */
const MAX_CONNECTIONS = 256;
/** A tunnel that one side has closed, without traffic. */
const HALF_CLOSED_MS = 60_000;

/**
 * Answers 403 with a reason for a forbidden host, 502 for a failed connection, 400 for a request that is not a proxy
 * request.
 */
export function createProxy(hosts: NamedHosts): http.Server {
  const proxy = http.createServer((request, response) =>
    attempt([response], () => forward(hosts, request, response)),
  );
  // It is a socket, but the types do not say so.
  proxy.on('connect', (request: http.IncomingMessage, script: Socket, head: Buffer) =>
    attempt([script], () => tunnel(hosts, request.url ?? '', script, head)),
  );
  proxy.maxConnections = MAX_CONNECTIONS;
  // An upload may take long.
  proxy.requestTimeout = 0;
  return proxy;
}

interface Ending {
  destroy(): unknown;
}

/** A failure in here ends the request, not the process, which is a holder or a worker. */
function attempt(ends: readonly Ending[], work: () => void): void {
  try {
    work();
  } catch {
    for (const end of ends) end.destroy();
  }
}

/** Relays bytes both ways, unread: TLS stays end-to-end. */
function tunnel(hosts: NamedHosts, authority: string, script: Socket, head: Buffer): void {
  script.on('error', () => script.destroy());
  const url = URL.parse(`http://${authority}`);
  if (!url || url.pathname !== '/' || url.username !== '' || url.password !== '' || url.search !== '')
    return answer(script, 400, `${JSON.stringify(authority)} is not a host and port`);
  const refused = hosts.refusal(url);
  if (refused !== undefined) return answer(script, 403, refused);
  const to = { host: hostOf(url), port: portOf(url), lookup: hosts.lookupFor(url) };
  const far = connect({ ...to, allowHalfOpen: true });
  const failed = (err: Error): void => answer(script, ...failure(err));
  far.once('error', failed);
  far.once('connect', () =>
    attempt([script, far], () => {
      far.off('error', failed);
      far.on('error', () => far.destroy());
      script.write('HTTP/1.1 200 Connection established\r\n\r\n');
      far.write(head);
      // Each direction ends separately; if one breaks, both do.
      pipeline(script, far, () => undefined);
      pipeline(far, script, () => undefined);
      script.once('end', () => far.setTimeout(HALF_CLOSED_MS, () => far.destroy()));
      far.once('end', () => script.setTimeout(HALF_CLOSED_MS, () => script.destroy()));
    }),
  );
  script.once('close', () => far.connecting && far.destroy());
}

function answer(script: Socket, status: number, reason: string): void {
  const body = `${reason}\n`;
  script.once('finish', () => script.destroy());
  script.end(
    // Programs show only the first line.
    `HTTP/1.1 ${status} ${inHeader(reason)}\r\ncontent-type: text/plain; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function forward(hosts: NamedHosts, request: http.IncomingMessage, response: http.ServerResponse): void {
  const refuse = (status: number, reason: string): void => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(status, inHeader(reason), { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`${reason}\n`);
  };
  const url = URL.parse(request.url ?? '');
  if (url?.protocol !== 'http:')
    return refuse(400, 'this is a proxy: it accepts absolute http URLs, and CONNECT');
  const refused = hosts.refusal(url);
  if (refused !== undefined) return refuse(403, refused);
  const { 'transfer-encoding': framing } = request.headers;
  const far = http.request({
    host: hostOf(url),
    port: portOf(url),
    path: `${url.pathname}${url.search}`,
    method: request.method,
    // The host of the address, whatever the script's Host header says (RFC 9112, 3.2.2). A body keeps its framing.
    headers: {
      ...endToEnd(request.headers),
      ...(framing && { 'transfer-encoding': framing }),
      host: url.host,
    },
    // A new connection: one that was opened for another name must not serve this request.
    agent: false,
    lookup: hosts.lookupFor(url),
  });
  far.on('response', (found) => {
    try {
      handOn(found, response);
    } catch (err) {
      far.destroy();
      refuse(502, `${url.host} sent an invalid answer: ${reasonOf(err)}`);
    }
  });
  far.on('upgrade', (_found, socket) => {
    socket.destroy();
    refuse(502, `${url.host} wants another protocol: use CONNECT for that`);
  });
  far.on('error', (err) => refuse(...failure(err)));
  response.once('close', () => far.destroy());
  request.on('error', () => far.destroy()).pipe(far);
}

/** Throws for a status or a reason that Node does not send. */
function handOn(found: http.IncomingMessage, response: http.ServerResponse): void {
  const { statusCode = 0, statusMessage = '' } = found;
  if (statusCode < 200) throw new Error(`status ${statusCode}`);
  response.writeHead(statusCode, inHeader(statusMessage), endToEnd(found.headers));
  found.on('error', () => response.destroy()).pipe(response);
}

function failure(err: Error): [status: number, reason: string] {
  const refused = addressRefusal(err);
  return refused === undefined ? [502, reasonOf(err)] : [403, refused];
}

function endToEnd(headers: http.IncomingHttpHeaders): http.OutgoingHttpHeaders {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  // The connection header must not remove content-length.
  const dropped = [...OF_CONNECTION, ...named.filter((name) => name !== 'content-length')];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.includes(name)));
}

/** One line of visible ASCII. */
const inHeader = (text: string): string => text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 300);
