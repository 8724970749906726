// A TLS connection to a server through a proxy (RFC 9110, 9.3.6). Node's own HTTP client opens it: no dependency is needed.
import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import * as tls from 'node:tls';
import { proxyHeaders } from './proxies';

export interface TunnelEnd {
  host: string;
  port: number;
  signal?: AbortSignal | undefined;
}

/** Throws with the proxy's name, so that the fault is not sought at the server. */
export async function openTunnel(proxy: URL, { host, port, signal }: TunnelEnd): Promise<tls.TLSSocket> {
  const far = await connected(proxy, { host, port, signal });
  const name = host.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ socket: far, servername: name, ALPNProtocols: ['http/1.1'] });
    socket.once('secureConnect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

async function connected(proxy: URL, { host, port, signal }: TunnelEnd): Promise<Socket> {
  const { request } = proxy.protocol === 'https:' ? https : http;
  const target = `${host}:${port}`;
  return new Promise((resolve, reject) => {
    const failed = (reason: string, cause?: Error): void =>
      reject(new Error(`the proxy ${proxy.host} does not connect to ${target}: ${reason}`, { cause }));
    const sent = request(proxy.origin, {
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyHeaders(proxy) },
      agent: false,
      ...(signal && { signal }),
    });
    sent.once('connect', ({ statusCode, statusMessage }, socket: Socket) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      failed(`it answers ${statusCode} ${statusMessage}`);
    });
    // Some answer like any other server.
    sent.once('response', ({ statusCode, statusMessage }) => {
      sent.destroy();
      failed(`it answers ${statusCode} ${statusMessage}`);
    });
    sent.once('error', (err) => failed(err.message, err));
    sent.end();
  });
}
