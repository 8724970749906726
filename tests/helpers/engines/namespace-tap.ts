// Stands between a host and its server, and writes down which namespace each of its requests names.
import {
  connect,
  constants,
  createServer,
  type ClientHttp2Session,
  type Http2Server,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { temporal } from '@temporalio/proto';

export interface Asked {
  method: string;
  /** Null for what concerns no namespace. */
  namespace: string | null;
}

type Requests = Record<string, { decode(data: Uint8Array): object } | undefined>;

export class NamespaceTap {
  readonly asked: Asked[] = [];
  private server: Http2Server | undefined;
  private readonly sessions = new Set<ClientHttp2Session | ServerHttp2Session>();

  /** Resolves with the address that leads to `target`. */
  async open(target: string): Promise<string> {
    const server = createServer();
    this.server = server;
    server.on('session', (session) => {
      const upstream = connect(`http://${target}`);
      for (const each of [session, upstream]) this.sessions.add(each);
      upstream.on('error', () => session.destroy());
      session.on('close', () => upstream.destroy());
      session.on('stream', (stream, headers) => {
        const body: Buffer[] = [];
        const request = upstream.request(headers);
        stream.on('data', (chunk: Buffer) => body.push(chunk));
        stream.on('end', () => this.note(headers[':path'] ?? '', Buffer.concat(body)));
        stream.pipe(request);
        request.on('response', (answer, flags) => {
          // A call that fails at once has its status there, and nothing else.
          if (flags & constants.NGHTTP2_FLAG_END_STREAM) return stream.respond(answer, { endStream: true });
          let trailers: OutgoingHttpHeaders = {};
          request.on('trailers', (last: OutgoingHttpHeaders) => (trailers = last));
          stream.respond(answer, { waitForTrailers: true });
          stream.on('wantTrailers', () => stream.sendTrailers(trailers));
          request.pipe(stream);
        });
        request.on('error', () => stream.destroy());
        stream.on('error', () => request.destroy()).on('aborted', () => request.close());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server?.close();
    for (const session of this.sessions) session.destroy();
  }

  /** One gRPC message: whether it is compressed, its length, itself. */
  private note(path: string, body: Buffer): void {
    const method = path.split('/').at(-1) ?? path;
    const message = body[0] === 1 ? gunzipSync(body.subarray(5)) : body.subarray(5);
    const { workflowservice, operatorservice } = temporal.api as unknown as Record<string, { v1: Requests }>;
    const type = workflowservice?.v1[`${method}Request`] ?? operatorservice?.v1[`${method}Request`];
    const said = type?.decode(message) as { namespace?: string } | undefined;
    this.asked.push({ method, namespace: said?.namespace || null });
  }
}
