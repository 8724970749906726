// A gateway on an engine of a test, and a client of its API.
import { randomUUID } from 'node:crypto';
import WebSocket from 'ws';
import type { FromServer, Hello } from '../../../contracts/gateway/terminal';
import { OFFSET_BYTES, TERMINAL_PROTOCOL } from '../../../contracts/gateway/terminal';
import type { Role } from '../../../contracts/gateway/api';
import { startGateway, type Gateway, type GatewayOptions } from '../../../gateway/gateway';
import { REQUEST_FAILED } from '../../../gateway/http/serve-routes';
import { publishedRegistry } from '../../../workers/tools/registry-record';
import type { EngineOfItsOwn } from '../engines/engine-of-its-own';
import type { RemoteHost } from '../hosts/remote-host';
import { until } from '../until';
import { ApiDocument } from './api-document';

export const gatewayOn = (engine: EngineOfItsOwn, options: Partial<GatewayOptions> = {}): Promise<Gateway> =>
  startGateway({
    client: engine.client,
    dataDir: engine.dataDir,
    namespace: engine.namespace,
    listen: '127.0.0.1:0',
    names: [],
    workflowAddress: () => null,
    isLocal: (host) => host === 'local',
    isElsewhere: () => false,
    hostToken: undefined,
    registry: () => publishedRegistry(engine.dataDir),
    log: {
      warn: (text) => {
        // Tests ask for what fails.
        if (text !== REQUEST_FAILED) throw new Error(text);
      },
    },
    ...options,
  });

/** Starts a host that listens, and a gateway that has its token. */
export async function gatewayTo(host: RemoteHost, engine: EngineOfItsOwn): Promise<Gateway> {
  await host.serve('--listen', '127.0.0.1:0');
  const hostToken = (await host.cli('host', 'token', host.name)).trim();
  const listens = async (): Promise<boolean> =>
    Boolean((await engine.client.hosts.state(host.name).catch(() => null))?.facts?.listens);
  await until(listens);
  return gatewayOn(engine, { hostToken });
}

export interface Answer {
  status: number;
  headers: Headers;
  /** JSON, or else the text. */
  body: unknown;
}

export type Json = Record<string, unknown>;

/** Sends requests with one token, and compares good answers with the gateway's document. */
export class ApiClient {
  private readonly document: ApiDocument;

  constructor(
    private readonly url: string,
    readonly token: string | null,
  ) {
    this.document = new ApiDocument(url);
  }

  /** The operations of the document that had a good answer. */
  get asked(): ReadonlySet<string> {
    return this.document.asked;
  }

  static async of(gateway: Gateway, role: Role, agents: string[] = ['*']): Promise<ApiClient> {
    const { token } = await gateway.tokens.create({ name: role, role, agents, validMs: null });
    return new ApiClient(gateway.url, token);
  }

  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const answer = await fetch(this.url + path, {
      method,
      headers: {
        ...(this.token && { Authorization: `Bearer ${this.token}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = /json/.test(answer.headers.get('Content-Type') ?? '');
    const { status } = answer;
    const parsed: unknown = isJson ? JSON.parse(text) : text;
    if (status < 300) await this.document.check(method, path, { status, isJson, body: parsed });
    return { status, headers: answer.headers, body: parsed };
  }

  /** The JSON of an answer that must be good. */
  async get<T = Json>(path: string): Promise<T> {
    return good(await this.ask('GET', path)) as T;
  }

  async post<T = Json>(path: string, body: unknown = {}, key?: string): Promise<T> {
    return good(await this.ask('POST', path, body, key === undefined ? {} : { 'Idempotency-Key': key })) as T;
  }
}

function good({ status, body }: Answer): unknown {
  if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}

export interface SeenEvent {
  event: string;
  id?: string;
  data: Json;
}

interface ReadOptions {
  token: string;
  /** The id of the last event that was seen. */
  after?: string;
  enough: (event: SeenEvent) => boolean;
  /** Called after the first event. */
  onFirst?: () => Promise<unknown>;
}

/** Reads events until one of them is the last that is wanted, or the stream ends. */
export async function readEvents(
  url: string,
  { token, after, enough, onFirst }: ReadOptions,
): Promise<{ events: SeenEvent[]; ended: boolean }> {
  const over = new AbortController();
  const headers = {
    Authorization: `Bearer ${token}`,
    ...(after !== undefined && { 'Last-Event-ID': after }),
  };
  const answer = await fetch(url, { headers, signal: over.signal });
  if (!answer.body || answer.status === 204) return { events: [], ended: true };
  const events: SeenEvent[] = [];
  let rest = '';
  const decoder = new TextDecoder();
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  try {
    for (;;) {
      // It fails when its gateway has ended.
      const { value } = await reader.read().catch(() => ({ value: undefined }));
      if (!value) return { events, ended: true };
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string): string | undefined =>
          new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
        const [event, id, data] = [field('event'), field('id'), field('data')];
        if (event === undefined || data === undefined) continue;
        const seen = { event, ...(id !== undefined && { id }), data: JSON.parse(data) as Json };
        events.push(seen);
        if (events.length === 1) await onFirst?.();
        if (enough(seen)) return { events, ended: false };
      }
    }
  } finally {
    over.abort();
  }
}

/** A client of a terminal that keeps what it is sent. */
export class TerminalClient {
  readonly said: FromServer[] = [];
  /** From the first byte that it was sent on. */
  bytes = Buffer.alloc(0);
  /** Offset of the first of `bytes`; null before any. */
  from: number | null = null;
  closed: { code: number; reason: string } | undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly acks: boolean,
  ) {
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.take(data);
      else this.said.push(JSON.parse(data.toString('utf8')) as FromServer);
    });
    socket.on('close', (code, reason) => (this.closed = { code, reason: reason.toString('utf8') }));
    socket.on('error', () => undefined);
  }

  static async open(
    url: string,
    path: string,
    { token, acks = true, ...hello }: Partial<Hello> & { token: string; acks?: boolean },
  ): Promise<TerminalClient> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, TERMINAL_PROTOCOL, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const client = new TerminalClient(socket, acks);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    client.send({ kind: 'hello', from: null, cols: 80, rows: 24, types: false, ...hello });
    return client;
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Types, and returns the id. */
  type(text: string, id: string = randomUUID()): string {
    this.send({ kind: 'input', id, data: Buffer.from(text).toString('base64') });
    return id;
  }

  /** The first message of this kind, when it has come. */
  async first<Kind extends FromServer['kind']>(kind: Kind): Promise<Extract<FromServer, { kind: Kind }>> {
    const find = (): FromServer | undefined => this.said.find((one) => one.kind === kind);
    await until(() => find() !== undefined);
    return find() as Extract<FromServer, { kind: Kind }>;
  }

  async untilShown(text: string): Promise<void> {
    await until(() => this.bytes.includes(text));
  }

  close(): void {
    this.socket.terminate();
  }

  private take(frame: Buffer): void {
    const offset = Number(frame.readBigUInt64BE(0));
    this.from ??= offset;
    if (offset !== this.from + this.bytes.length)
      throw new Error(`bytes at ${offset}, not at ${this.from + this.bytes.length}`);
    this.bytes = Buffer.concat([this.bytes, frame.subarray(OFFSET_BYTES)]);
    if (this.acks) this.send({ kind: 'ack', to: this.from + this.bytes.length });
  }
}
