// Passes on what a model writes to the watchers of its agent, over a private socket outside history. It never waits: a
// watcher that reads too slowly loses its connection, and starts again from the current text.
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import {
  LIVE_TOKENS_FOLDER,
  type LiveToken,
  type LiveTokensRecord,
  type WatchRequest,
  type WrittenSoFar,
} from '../../contracts/models/live-tokens';
import { readJson, removeQuietly, writeJson } from '../../system/json-file';
import { makeFolder } from '../../system/make-folder';
import { isRunning } from '../../system/processes/proc';
import { socketPathFor } from '../../exec/session-paths';
import { endOf } from '../../contracts/text/well-formed';

/** How much a watcher may leave unread. */
const MAX_UNREAD_BYTES = 1_048_576;
const MAX_REQUEST_BYTES = 4_096;
const MAX_WATCHERS = 256;
/** More than a model writes between two heartbeats, and little for the server. */
const MAX_END_CHARS = 8_000;

export interface WatchedCall {
  agent: string;
  /** Workflow id. */
  turn: string;
}

/** What a provider receives while somebody watches. */
interface Watched {
  onText?: (piece: string) => void;
}

export class LiveTokens {
  private readonly sockets = new Set<Socket>();
  private readonly watchers = new Map<Socket, string>();
  /** Text being written, by agent: for watchers that join in the middle. */
  private readonly calls = new Map<string, { call: WatchedCall; text: string }>();

  private constructor(
    private readonly server: Server,
    private readonly record: LiveTokensRecord,
    private readonly file: string,
    private readonly isServerShared: boolean,
  ) {
    server.on('connection', (socket) => this.admit(socket));
    server.unref();
  }

  /**
   * Listens in the data folder until `close`.
   * @param isServerShared other machines use the server, too: what is written can be had there, asked for or not
   */
  static async listen(dataDir: string, isServerShared = false): Promise<LiveTokens> {
    const folder = join(dataDir, LIVE_TOKENS_FOLDER);
    makeFolder(folder);
    LiveTokens.removeLeftOver(dataDir);
    const name = `${process.pid}-${randomBytes(4).toString('hex')}`;
    const file = join(folder, `${name}.json`);
    const socketPath = socketPathFor(dataDir, file);
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(socketPath, resolve);
    });
    const record = { pid: process.pid, socketPath, token: randomBytes(24).toString('hex') };
    writeJson(file, record);
    return new LiveTokens(server, record, file, isServerShared);
  }

  /** Removes the records and sockets of workers that were killed. */
  static removeLeftOver(dataDir: string): void {
    const folder = join(dataDir, LIVE_TOKENS_FOLDER);
    if (existsSync(folder)) removeLeft(folder);
  }

  /** Makes a call and sends its text to the agent's current watchers. Without watchers, no text is requested. */
  async during<T>(call: WatchedCall, work: (watched: Watched) => Promise<T>): Promise<T> {
    if (!this.isServerShared && ![...this.watchers.values()].includes(call.agent)) return work({});
    const current = { call, text: '' };
    this.calls.set(call.agent, current);
    const onText = (text: string): void => {
      if (this.calls.get(call.agent) !== current) return;
      current.text += text;
      this.publish({ kind: 'text', ...call, text });
    };
    try {
      const result = await work({ onText });
      this.publish({ kind: 'end', ...call });
      return result;
    } catch (err) {
      this.publish({ kind: 'reset', ...call });
      throw err;
    } finally {
      if (this.calls.get(call.agent) === current) this.calls.delete(call.agent);
    }
  }

  /** What an agent's model has written, for the server; undefined if it cannot be watched elsewhere, or there is nothing. */
  writtenFor(agent: string): WrittenSoFar | undefined {
    const text = this.calls.get(agent)?.text;
    if (!this.isServerShared || !text) return undefined;
    return { writer: basename(this.file, '.json'), length: text.length, end: endOf(text, MAX_END_CHARS) };
  }

  close(): void {
    removeQuietly(this.file);
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private publish(token: LiveToken): void {
    for (const [socket, agent] of this.watchers) if (agent === token.agent) send(socket, token);
  }

  private admit(socket: Socket): void {
    if (this.sockets.size >= MAX_WATCHERS) {
      socket.destroy();
      return;
    }
    this.sockets.add(socket);
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.sockets.delete(socket);
      this.watchers.delete(socket);
    });
    let request = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      // Nothing is expected after the first line.
      if (this.watchers.has(socket)) return;
      request += chunk;
      const end = request.indexOf('\n');
      if (end >= 0) this.watch(socket, request.slice(0, end));
      else if (request.length > MAX_REQUEST_BYTES) socket.destroy();
    });
  }

  private watch(socket: Socket, line: string): void {
    const agent = this.agentOf(line);
    if (agent === undefined) {
      socket.destroy();
      return;
    }
    this.watchers.set(socket, agent);
    const current = this.calls.get(agent);
    if (current?.text) send(socket, { kind: 'text', ...current.call, text: current.text });
  }

  private agentOf(line: string): string | undefined {
    try {
      const { token, agent } = JSON.parse(line) as Partial<WatchRequest>;
      return token === this.record.token && typeof agent === 'string' ? agent : undefined;
    } catch {
      return undefined;
    }
  }
}

function send(socket: Socket, token: LiveToken): void {
  if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
  else socket.write(`${JSON.stringify(token)}\n`);
}

/** Leftovers of killed workers. */
function removeLeft(folder: string): void {
  for (const name of readdirSync(folder)) {
    const record = readJson<LiveTokensRecord>(join(folder, name));
    if (!record || isRunning(record.pid)) continue;
    for (const path of [record.socketPath, join(folder, name)]) removeQuietly(path);
  }
}
