// How long a request may take to arrive. Bytes for a host may take hours, as long as they keep coming; every other request
// is small.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

const REQUEST_MS = 60_000;
const LINGER_MS = 30_000;
const TIMED_OUT = 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n';

/** Call it before anything else hears of the server's requests. */
export function limitRequests(server: Server, limitMs = REQUEST_MS): void {
  server.on('request', (request) => {
    if (request.complete) return;
    // The request loses it when its body is no longer read.
    const { socket } = request;
    const goesOn = request.method === 'PUT' ? progressOf(request) : () => false;
    const end = (): void => {
      if (request.complete || goesOn()) return;
      clear();
      socket.end(TIMED_OUT, () => socket.destroySoon());
    };
    // What arrived while this process was busy is read first.
    const look = setInterval(() => goesOn() || setImmediate(end), limitMs).unref();
    const clear = (): void => clearInterval(look);
    request.once('end', clear).once('close', clear);
  });
}

/**
 * For an answer that comes before the end of the request's body. A client that is still sending would find its connection
 * reset, often before it has read the answer: so the rest is read and dropped for a while. Most clients stop by themselves.
 */
export function dropRest(request: IncomingMessage): void {
  // Null once it is closed.
  const socket = request.socket as Socket | null;
  const timer = setTimeout(() => socket?.destroy(), LINGER_MS).unref();
  request.once('close', () => clearTimeout(timer)).resume();
}

/**
 * Returns whether bytes have come since it was last asked. The connection counts them, so that nothing is read here. While
 * bytes wait to be read, the client has done its part: a host may look for minutes at what it has of an interrupted upload
 * before it asks for more.
 */
function progressOf(request: IncomingMessage): () => boolean {
  const { socket } = request;
  let before = socket.bytesRead;
  return () => {
    const now = socket.bytesRead;
    const hasCome = now !== before;
    before = now;
    return hasCome || request.readableLength > 0;
  };
}
