// A real tool socket for the stubs: speaks their protocol and answers as its test says.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

export interface SeenCall {
  tool: string;
  args: Record<string, unknown>;
  cwd: string;
  token: string;
  version: number;
  verb: string;
  /** The caller closed the connection before it had an answer. */
  isCancelled: boolean;
}
/** What the tool says when it fails. */
export class Refusal {
  constructor(
    readonly code: string,
    readonly message: string,
    readonly retryable = false,
    readonly callId: string | null = 'c0ffee',
  ) {}
}
/** An error of the protocol, as the socket gives it to a call that never became one. */
export class ProtocolFault {
  constructor(
    readonly code: string,
    readonly facts: Record<string, unknown>,
  ) {}
}
/** The connection closes without an answer. */
export const HANG_UP = Symbol('hang up');

export interface ToolSocket {
  path: string;
  calls: SeenCall[];
  close(): Promise<void>;
}

/** Listens on a Unix socket. What `answer` yields is the value of the call, or one of the above. */
export async function listenForTools(path: string, answer: (call: SeenCall) => unknown): Promise<ToolSocket> {
  const calls: SeenCall[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('close', () => open.delete(socket)));
    socket.on('error', () => socket.destroy());
    void serve(socket, calls, answer);
  });
  // A short queue, so that callers meet a full one.
  server.listen({ path, backlog: 4 });
  await once(server, 'listening');
  return {
    path,
    calls,
    async close() {
      for (const socket of open) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

async function serve(socket: Socket, calls: SeenCall[], answer: (call: SeenCall) => unknown): Promise<void> {
  const request = await readRequest(socket);
  if (!request) return;
  const { id, token, version, verb, body } = request;
  const call: SeenCall = { ...body, token, version, verb, isCancelled: false };
  let isAnswered = false;
  socket.on('close', () => (call.isCancelled = !isAnswered));
  // The caller's half being closed is how it hangs up.
  socket.on('end', () => socket.destroy());
  calls.push(call);
  const outcome: unknown = await answer(call);
  isAnswered = true;
  if (outcome === HANG_UP) return void socket.destroy();
  socket.end(frame({ id, ...replyOf(outcome) }));
}

function replyOf(outcome: unknown): object {
  if (outcome instanceof ProtocolFault) return { error: { code: outcome.code, facts: outcome.facts } };
  if (!(outcome instanceof Refusal)) return { ok: { callId: 'e1c7', ok: true, value: outcome ?? null } };
  const { code, message, retryable, callId } = outcome;
  return { ok: { callId, ok: false, error: { code, message, retryable } } };
}

interface Request {
  id: number;
  token: string;
  version: number;
  verb: string;
  body: Pick<SeenCall, 'tool' | 'args' | 'cwd'>;
}

/** Undefined when the caller hung up before its request was whole. */
function readRequest(socket: Socket): Promise<Request | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    socket.on('close', () => resolve(undefined));
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length < 4) return;
      const head = Buffer.concat(chunks.slice(0, 4)).readUInt32BE(0);
      if (length < 4 + head) return;
      resolve(JSON.parse(Buffer.concat(chunks).toString('utf8', 4)) as Request);
    });
  });
}

function frame(reply: object): Buffer {
  const body = Buffer.from(JSON.stringify(reply));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}
