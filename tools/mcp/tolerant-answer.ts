// An HTTP answer with its messages as the SDK's transport takes them, by whatever type the server calls it.
import { createParser } from 'eventsource-parser';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';

/** Reads the messages of a text; throws for a text that is none. */
type Read = (text: string) => JSONRPCMessage[];

export interface AnsweredRequest {
  /** Of a request; absent for a stream of notifications, and for messages that get no answer. */
  own?: RequestId | undefined;
  read: Read;
}

/** Throws what reading the answer throws. */
export async function tolerantAnswer(response: Response, { own, read }: AnsweredRequest): Promise<Response> {
  if (!response.ok || !response.body) return response;
  const type = response.headers.get('content-type') ?? '';
  if (/^\s*text\/event-stream/i.test(type))
    return new Response(response.body.pipeThrough(tolerantEvents(read)), response);
  if (own === undefined) return response;
  const text = await response.text();
  const messages = messagesOf(text, read);
  const headers = new Headers(response.headers);
  if (messages !== undefined) headers.set('content-type', 'application/json');
  // 202 says that the answer comes in another stream, which is not so if it is here.
  const status = response.status === 202 && messages === undefined ? 202 : 200;
  return new Response(messages ?? text, { status, headers });
}

/** As JSON; the text itself if it is too deep to be written again; undefined if it is no message. */
function messagesOf(text: string, read: Read): string | undefined {
  let messages: JSONRPCMessage[];
  try {
    messages = read(text);
  } catch {
    return undefined;
  }
  return written(messages.length === 1 ? messages[0] : messages) ?? text;
}

function written(messages: unknown): string | undefined {
  try {
    return JSON.stringify(messages);
  } catch {
    return undefined;
  }
}

function tolerantEvents(read: Read): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let out: TransformStreamDefaultController<Uint8Array>;
  const write = (lines: (string | false)[]): void =>
    out.enqueue(encoder.encode(lines.filter((line) => line !== false).join('\n') + '\n\n'));
  const parser = createParser({
    onRetry: (ms) => write([`retry: ${ms}`]),
    onEvent({ id, event, data }) {
      const mark = id !== undefined && `id: ${id}`;
      let messages: JSONRPCMessage[];
      try {
        messages = data === '' ? [] : read(data);
      } catch {
        return write([mark, event !== undefined && `event: ${event}`, ...dataLines(data)]);
      }
      if (messages.length === 0) return write([mark, 'data: ']);
      for (const message of messages) write([mark, ...dataLines(written(message) ?? data)]);
    },
  });
  return new TransformStream({
    start: (controller) => void (out = controller),
    transform: (chunk) => parser.feed(decoder.decode(chunk, { stream: true })),
    flush: () => parser.feed(decoder.decode()),
  });
}

const dataLines = (data: string): string[] => data.split('\n').map((line) => `data: ${line}`);
