// A collector for tests: takes OTLP over HTTP as JSON, as the specification has it, and can be slow, refuse or be away.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Value {
  stringValue?: string;
  intValue?: number | string;
  doubleValue?: number;
  boolValue?: boolean;
}
interface Attribute {
  key: string;
  value: Value;
}
interface Exported {
  resourceSpans?: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        attributes: Attribute[];
        status: { code: number; message?: string };
      }[];
    }[];
  }[];
}

export interface Received {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  service: string;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  error: string | undefined;
}

const plain = (attributes: Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]));

export class OtlpReceiver {
  readonly spans: Received[] = [];
  /** All that came, byte for byte. */
  raw = '';
  /** Paths that were posted to. */
  readonly paths = new Set<string>();
  readonly authorizations = new Set<string | undefined>();
  mode: 'takes' | 'refuses' | 'hangs' = 'takes';
  private readonly server: Server = createServer((request, response) => void this.take(request, response));

  /** Returns the base URL. */
  async start(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async end(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  inTrace(traceId: string): Received[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => '');
    this.paths.add(request.url ?? '');
    this.authorizations.add(request.headers.authorization);
    if (this.mode === 'hangs') return;
    if (this.mode === 'refuses') return void response.writeHead(400).end('no');
    this.raw += body;
    if (request.url === '/v1/traces') this.keep(JSON.parse(body) as Exported);
    response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
  }

  private keep({ resourceSpans = [] }: Exported): void {
    for (const { resource, scopeSpans } of resourceSpans)
      for (const span of scopeSpans.flatMap(({ spans }) => spans))
        this.spans.push({
          ...{ traceId: span.traceId, spanId: span.spanId, parentSpanId: span.parentSpanId || undefined },
          name: span.name,
          service: String(plain(resource.attributes)['service.name']),
          startMs: Number(BigInt(span.startTimeUnixNano) / 1_000_000n),
          endMs: Number(BigInt(span.endTimeUnixNano) / 1_000_000n),
          attributes: plain(span.attributes),
          error: span.status.code === 2 ? (span.status.message ?? '') : undefined,
        });
  }
}
