// Follows what an agent's model writes, on the machine of its worker: beside history, for showing alone.
import { readFileSync, readdirSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  LIVE_TOKENS_FOLDER,
  type LiveToken,
  type LiveTokensRecord,
  type WatchRequest,
} from '../contracts/live-tokens';

export interface FollowTokensOptions {
  /** The worker's. */
  dataDir: string;
  agent: string;
  /** Ends the following. */
  signal: AbortSignal;
  /** Told whenever a worker has been found. What it is asked for from then on is told. */
  onWatching?: () => void;
}

/** How often it looks for a worker that was started meanwhile. */
const LOOK_MS = 250;

/**
 * Yields each piece of a reply as the model writes it, until `signal` aborts. A `reset` says that what was shown of
 * this reply counts no more, an `end` that it is whole. Replies that were begun before anybody watched are not told:
 * the transcript has all of them. Connects again when the worker was restarted. Never throws.
 */
export async function* followTokens(
  options: FollowTokensOptions,
): AsyncGenerator<LiveToken, void, undefined> {
  const { signal } = options;
  const inbox = new Inbox();
  const connections = new Map<string, Socket>();
  const looking = look(options, connections, inbox);
  const wake = (): void => inbox.wake();
  signal.addEventListener('abort', wake, { once: true });
  try {
    while (!signal.aborted) {
      const token = inbox.take();
      if (token) yield token;
      else await inbox.filled();
    }
  } finally {
    signal.removeEventListener('abort', wake);
    looking.abort();
    for (const socket of connections.values()) socket.destroy();
  }
}

/** What came and was not yet taken. */
class Inbox {
  private readonly tokens: LiveToken[] = [];
  private waiting: (() => void) | undefined;

  put(token: LiveToken): void {
    this.tokens.push(token);
    this.wake();
  }

  take(): LiveToken | undefined {
    return this.tokens.shift();
  }

  wake(): void {
    this.waiting?.();
  }

  async filled(): Promise<void> {
    if (this.tokens.length === 0) await new Promise<void>((resolve) => (this.waiting = resolve));
    this.waiting = undefined;
  }
}

/** Keeps a connection to each worker that listens. */
function look(options: FollowTokensOptions, connections: Map<string, Socket>, inbox: Inbox): AbortController {
  const ending = new AbortController();
  const { signal } = ending;
  const round = async (): Promise<void> => {
    while (!signal.aborted && !options.signal.aborted) {
      for (const record of listening(options.dataDir)) {
        if (connections.has(record.token)) continue;
        const socket = watch(record, options, inbox);
        connections.set(record.token, socket);
        socket.once('close', () => connections.delete(record.token));
      }
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  };
  void round();
  return ending;
}

function listening(dataDir: string): LiveTokensRecord[] {
  const folder = join(dataDir, LIVE_TOKENS_FOLDER);
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as LiveTokensRecord);
  } catch {
    // No worker yet, or one that ends just now.
    return [];
  }
}

function watch(
  { socketPath, token }: LiveTokensRecord,
  { agent, onWatching }: FollowTokensOptions,
  inbox: Inbox,
): Socket {
  const socket = createConnection(socketPath);
  const request: WatchRequest = { token, agent };
  /** The reply that was begun and is not whole. */
  let open: LiveToken | undefined;
  socket.on('error', () => socket.destroy());
  socket.once('connect', () => socket.write(`${JSON.stringify(request)}\n`, onWatching));
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    // What stands behind the last line's end is not whole, and never will be where the worker was killed.
    rest += chunk;
    // A long reply comes in many chunks, and is one line.
    if (!chunk.includes('\n')) return;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const said = JSON.parse(line) as LiveToken;
      open = said.kind === 'text' ? said : undefined;
      inbox.put(said);
    }
  });
  socket.once('close', () => {
    if (open) inbox.put({ kind: 'reset', agent, turn: open.turn });
  });
  return socket;
}
