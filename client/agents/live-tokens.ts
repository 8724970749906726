// Follows what an agent's model writes, on the machine of its worker: outside history, only for display.
import { readFileSync, readdirSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  LIVE_TOKENS_FOLDER,
  type LiveToken,
  type LiveTokensRecord,
  type WatchRequest,
} from '../../contracts/models/live-tokens';

export interface FollowTokensOptions {
  /** The worker's data folder. */
  dataDir: string;
  agent: string;
  /** Stops following. */
  signal: AbortSignal;
  /** Called whenever a worker has been found. Replies that start from then on are yielded. */
  onWatching?: (() => void) | undefined;
}

/** How often it looks for a newly started worker. */
const LOOK_MS = 250;

/**
 * Yields each piece of a reply as the model writes it, until `signal` aborts. A `reset` discards what was shown of
 * this reply, an `end` says that it is complete. Replies that began before anyone watched are not yielded: the
 * transcript has all of them. Reconnects when the worker was restarted. Never throws.
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

/** Tokens that have arrived but are not yet consumed. */
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

/** Keeps a connection to each listening worker. */
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
    // No worker yet, or one that is just ending.
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
  /** The reply that has begun but is not complete. */
  let open: LiveToken | undefined;
  socket.on('error', () => socket.destroy());
  socket.once('connect', () => socket.write(`${JSON.stringify(request)}\n`, onWatching));
  let rest = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    // The text after the last newline is incomplete, and stays so if the worker was killed.
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
