// An MCP server over HTTP in the test's own process, whose answers the test writes: refusals, cut streams, no answer.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { McpServerSettings } from '../../../tools/mcp/mcp-settings';
import { settings } from './mcp-servers';

export interface Message {
  id?: number;
  method: string;
  params?: { protocolVersion?: string; requestId?: number; arguments?: Record<string, unknown> };
}

type Answer = (response: ServerResponse, message: Message) => void;

/**
 * How it answers, by method; `GET` is the stream for notifications, which it does not offer by default, and `answer` an
 * answer to a request of its own.
 */
export type Script = Partial<
  Record<'tools/call' | 'tools/list' | 'ping' | `notifications/${string}` | 'GET' | 'answer', Answer>
>;

export interface ScriptedMcp {
  /** Its only tool is `mcp__web__run`. */
  settings(more?: Partial<McpServerSettings>): McpServerSettings;
  /** What it has been sent, by method. */
  sent: string[];
  /** Ends all sessions, as a restart does. */
  forgetSessions(): void;
  end(): Promise<void>;
}

export const EVENTS = { 'content-type': 'text/event-stream' };

/** Answers a call with a text. */
export const say = (response: ServerResponse, { id }: Message, said: string): void =>
  reply(response, id, { content: [{ type: 'text', text: said }] });

export const reply = (response: ServerResponse, id: number | undefined, result: object): void =>
  void response
    .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': currentSession(response) })
    .end(JSON.stringify({ jsonrpc: '2.0', id, result }));

const sessionOf = new WeakMap<ServerResponse, string>();
const currentSession = (response: ServerResponse): string => sessionOf.get(response) ?? '';

const BASE: Record<string, Answer> = {
  initialize: (response, { id, params }) =>
    reply(response, id, {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'scripted', version: '1' },
    }),
  'tools/list': (response, { id }) =>
    reply(response, id, { tools: [{ name: 'run', inputSchema: { type: 'object' } }] }),
  ping: (response, { id }) => reply(response, id, {}),
  GET: (response) => void response.writeHead(405).end(),
};

export async function scriptedMcp(script: Script): Promise<ScriptedMcp> {
  const answers: Record<string, Answer> = { ...BASE, ...script };
  const sent: string[] = [];
  let session = 1;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const message =
      request.method === 'POST'
        ? // An answer of the client has no method.
          { method: 'answer', ...(JSON.parse(await text(request)) as Partial<Message>) }
        : { method: 'GET' };
    sent.push(message.method);
    sessionOf.set(response, String(session));
    const write = answers[message.method];
    if (write) write(response, message);
    else response.writeHead(202).end();
  };
  const http = createServer((request, response) => {
    const given = request.headers['mcp-session-id'];
    const isKnown = given === undefined || given === String(session);
    // Not all at the same moment, as of a busy server.
    if (isKnown) void answer(request, response);
    else setTimeout(() => response.writeHead(404).end('no such session'), 60 * (refused++ % 5));
  });
  let refused = 0;
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  return {
    settings: (more) => settings('web', { kind: 'http', url, headers: {} }, more),
    sent,
    forgetSessions: () => void (session += 1),
    end: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
