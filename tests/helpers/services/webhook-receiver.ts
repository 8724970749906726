// A receiver of webhooks that checks signatures with the library of Standard Webhooks, and may be away or misbehave.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { WebhookEvent } from '../../../contracts/webhooks';
import { freePort } from '../free-port';
import { until } from '../until';

export type Received = Omit<WebhookEvent, 'data'> & { data: Record<string, unknown> };

export class WebhookReceiver {
  /** Accepted events, repeated ones included. */
  readonly events: Received[] = [];
  readonly faults: string[] = [];
  /** The ids of all requests that came, whatever they got. */
  readonly asked: string[] = [];
  secret = '';
  /** What it answers. */
  status: number | 'never' = 204;
  /** With answers that are no success. */
  retryAfter: (() => string) | undefined;
  /** Events that it never takes, whatever it answers to others. */
  refuses: (event: Received) => boolean = () => false;
  private server: Server | undefined;
  private port = 0;

  constructor(private readonly address = '127.0.0.1') {}

  static async start(address?: string): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(address);
    await receiver.open();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks`;
  }

  /** At the port that it had. */
  async open(): Promise<void> {
    const server = createServer((request, response) => void this.answer(request, response));
    this.port ||= await freePort();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.port, this.address, resolve);
    });
    this.server = server;
  }

  /** From now on connections are refused. */
  async close(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (!server) return;
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }

  of(type: string, agent?: string): Received[] {
    return this.events.filter((event) => event.type === type && (!agent || event.data.agent === agent));
  }

  /** The first event of this kind. */
  async first(type: string, agent?: string): Promise<Received> {
    await until(() => this.of(type, agent).length > 0, 120_000);
    return this.of(type, agent)[0] as Received;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.asked.push(String(request.headers['webhook-id']));
    if (this.status === 'never') return;
    let body = '';
    for await (const part of request) body += String(part);
    // An event may come before the answer that has the secret.
    await until(() => this.secret !== '');
    let { status } = this;
    if (status < 300)
      try {
        const headers = request.headers as Record<string, string>;
        const verified = new Webhook(this.secret).verify(body, headers) as Received;
        if (this.refuses(verified)) status = 413;
        else this.events.push({ ...verified, id: String(headers['webhook-id']) });
      } catch (err) {
        this.faults.push(String(err));
      }
    const { retryAfter } = this;
    response
      .writeHead(status, {
        ...(status === 302 && { Location: `${this.url}/elsewhere` }),
        ...(status >= 300 && retryAfter !== undefined && { 'Retry-After': retryAfter() }),
      })
      .end();
  }
}
