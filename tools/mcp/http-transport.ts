// Speaks streamable HTTP with a server, by the SDK's transport. That one would wait for an answer whose stream has ended,
// and go on reading an answer that was cancelled.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transport, TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { Exchange } from './http-exchange';
import type { HttpServer } from './mcp-settings';
import { MessageReader } from './reader/message-reader';
import { tolerantAnswer } from './tolerant-answer';

/** For what has no time-out of its own: messages that get no answer. */
const NOTICE_MS = 30_000;

export async function httpTransport({ url, headers }: HttpServer): Promise<Transport> {
  const { StreamableHTTPClientTransport } =
    await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  /** The request that is being sent: `fetch` does not get it. */
  const current = new AsyncLocalStorage<{ exchange: Exchange; own?: RequestId }>();
  const reader = new MessageReader();
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    async fetch(target, init = {}) {
      const sent = init.method === 'POST' ? current.getStore() : undefined;
      const response = await (sent?.exchange ?? new Exchange()).fetch(target, init);
      return tolerantAnswer(response, { own: sent?.own, read: (text) => reader.read(text, sent?.own) });
    },
    reconnectionOptions: {
      initialReconnectionDelay: 500,
      maxReconnectionDelay: 10_000,
      reconnectionDelayGrowFactor: 2,
      maxRetries: 1_000,
    },
  });
  const running = new Map<RequestId, Exchange>();
  const take = (id: RequestId): Exchange | undefined => {
    const exchange = running.get(id);
    running.delete(id);
    return exchange;
  };
  // The client calls it before its own.
  transport.onmessage = (message) => {
    if ('id' in message && !('method' in message)) take(message.id as RequestId)?.release();
  };
  const send = transport.send.bind(transport);
  /** For a request it lasts until the answer has been read, and throws if none can come; an answer that came counts. */
  const sendAndWatch = async (message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> => {
    reader.sent(message);
    if (!('method' in message && 'id' in message)) {
      if ('method' in message && message.method === 'notifications/cancelled')
        take(message.params?.requestId as RequestId)?.cancel();
      const exchange = new Exchange(AbortSignal.timeout(NOTICE_MS));
      return current.run({ exchange }, () => send(message, options));
    }
    const exchange = new Exchange();
    const { id } = message;
    running.set(id, exchange);
    try {
      const onresumptiontoken = (): void => exchange.setResumable();
      await current.run({ exchange, own: id }, () => send(message, { ...options, onresumptiontoken }));
      await exchange.answered();
    } catch (err) {
      reader.forget(id);
      throw err;
    } finally {
      running.delete(id);
    }
  };
  transport.send = sendAndWatch;
  // Its declaration differs only in whether `undefined` may be explicit.
  return transport;
}
