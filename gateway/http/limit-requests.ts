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
    const isUpload = request.method === 'PUT';
    let timer = setTimeout(late, limitMs).unref();
    function late(): void {
      if (!request.complete) socket.end(TIMED_OUT, () => socket.destroySoon());
    }
    const clear = (): void => clearTimeout(timer);
    request.once('end', clear).once('close', clear);
    if (isUpload) onProgress(request, () => (clear(), (timer = setTimeout(late, limitMs).unref())));
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
 * Looks at the connection, which counts bytes, so that nothing is read here. While bytes wait to be read, the client has
 * done its part: a host may look for minutes at what it has of an interrupted upload before it asks for more.
 */
function onProgress(request: IncomingMessage, moved: () => void): void {
  const { socket } = request;
  let before = socket.bytesRead;
  const look = setInterval(() => {
    const now = socket.bytesRead;
    if (now !== before || request.readableLength > 0) moved();
    before = now;
  }, 1_000).unref();
  request.once('close', () => clearInterval(look));
}
