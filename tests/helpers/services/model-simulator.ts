// A provider of models that others maintain, on a port of this machine: it speaks OpenAI's and Anthropic's protocols,
// streams, and fails on request. Our proxy in front of it keeps each request as it was sent, and
// answers in its place for failures that it does not support.
import { once } from 'node:events';
import { createServer, request as forward, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LLMock } from '@copilotkit/aimock';
import type { ModelProvider, ModelRequest } from '../../../models/provider';
import { createProviders } from '../../../models/providers';
import type { WireApi } from '../../../contracts/models/model-names';
import type { ModelSettings, ProviderSettings } from '../../../models/model-settings';

/** Its beginning, middle and end may be in no error, log or history. */
export const PLANTED_KEY = 'sk-planted-a1b2c3d4e5f6-zyxwv';
export const KEY_VARIABLE = 'HOLDFAST_TEST_MODEL_KEY';

interface SentRequest {
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: string;
  /** The rest never arrives. */
  hangs?: true;
  /** The connection breaks after the body, which has no end. */
  breaks?: true;
  /** Only to a request that holds this text. */
  to?: string;
}

export class ModelSimulator {
  /** In order of arrival. */
  readonly requests: SentRequest[] = [];
  /** Returned instead of the simulator's, one after the other. */
  readonly answers: Answer[] = [];

  private constructor(
    readonly mock: LLMock,
    private readonly door: Server,
  ) {}

  static async start(): Promise<ModelSimulator> {
    process.env[KEY_VARIABLE] = PLANTED_KEY;
    const door = createServer();
    const simulator = new ModelSimulator(await LLMock.create({ port: 0, logLevel: 'silent' }), door);
    door.on('request', (incoming, outgoing) => {
      let body = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      incoming.on('end', () => {
        const { headers, method, url } = incoming;
        simulator.requests.push({ headers, body: JSON.parse(body) as Record<string, unknown> });
        const answer = simulator.answerTo(body) ?? oddNameIn(body);
        if (answer) {
          const type = { 'content-type': 'application/json' };
          outgoing
            .writeHead(answer.status, { ...type, ...answer.headers })
            .write(answer.body, () => answer.breaks && outgoing.destroy());
          if (!answer.hangs && !answer.breaks) outgoing.end();
          return;
        }
        const onward = forward(`${simulator.mock.url}${url}`, { method, headers, agent: false }, (reply) => {
          outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
          reply.on('error', () => outgoing.destroy());
          reply.pipe(outgoing);
        });
        onward.on('error', () => outgoing.destroy());
        onward.end(body);
      });
    });
    await once(door.listen(0, '127.0.0.1'), 'listening');
    return simulator;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.door.address() as AddressInfo).port}`;
  }

  settings(wireApi: WireApi, more: Partial<ProviderSettings> = {}): ProviderSettings {
    return {
      wireApi,
      baseUrl: wireApi === 'anthropic' ? this.url : `${this.url}/v1`,
      key: { variable: KEY_VARIABLE },
      headers: {},
      variableHeaders: {},
      streamIdleMs: 20_000,
      requestMs: 20_000,
      ...more,
    };
  }

  /** The provider of `sim:small`. */
  provider(wireApi: WireApi, more?: Partial<ProviderSettings>, model: ModelSettings = {}): ModelProvider {
    const providers = { sim: this.settings(wireApi, more) };
    return createProviders({}, { providers, models: { 'sim:small': model } })('sim:small');
  }

  private answerTo(body: string): Answer | undefined {
    const index = this.answers.findIndex(({ to }) => to === undefined || body.includes(to));
    return index < 0 ? undefined : this.answers.splice(index, 1)[0];
  }

  get lastBody(): Record<string, unknown> {
    return this.requests.at(-1)?.body ?? {};
  }

  async stop(): Promise<void> {
    delete process.env[KEY_VARIABLE];
    this.door.closeAllConnections();
    this.door.close();
    await this.mock.stop();
  }
}

/** As providers answer a call whose name they do not take; the simulator takes any. */
function oddNameIn(body: string): Answer | undefined {
  const names: string[] = [];
  JSON.parse(body, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const { type, name, function: called } = value as Record<string, unknown>;
    if (type === 'function_call' || type === 'tool_use') names.push(JSON.stringify(name));
    if (type === 'function' && called) names.push(JSON.stringify((called as Record<string, unknown>).name));
    return value;
  });
  const odd = names.find((name) => !/^"[a-zA-Z0-9_-]{1,64}"$/.test(name));
  if (odd === undefined) return undefined;
  const message = `Invalid 'name': ${odd} does not match '^[a-zA-Z0-9_-]+$'.`;
  return { status: 400, body: JSON.stringify({ error: { type: 'invalid_request_error', message } }) };
}

export const ask = (text: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: 'You are a test.',
  messages: [{ role: 'user', text }],
  signal: new AbortController().signal,
  ...more,
});
