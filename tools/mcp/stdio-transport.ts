// Speaks with a program over its standard input and output. The SDK's own transport leaves the program in the
// worker's process group and kills it alone: what `npx` starts would outlive it.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReadBuffer } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { StdioServer } from './settings';

const JOIN_BYTES = 1024 * 1024;
/** A server ends when its input does; one that does not is told so, and then killed. */
const GRACE_MS = 2_000;
const STDERR_CHARS = 2_000;
/** Something that left the group may hold the pipes open. */
const CLOSE_MS = 1_000;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export class GroupStdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  private child: Child | undefined;
  private exited: Promise<void> = Promise.resolve();
  /** What came since the last end of a line. */
  private line: Buffer[] = [];
  private lineBytes = 0;
  private stderr = '';
  private end = '';

  constructor(
    private readonly server: StdioServer,
    private readonly buffer: ReadBuffer,
    private readonly serialize: (message: JSONRPCMessage) => string,
    /** Told of the process group; calls what it returns when the group is gone. */
    private readonly onProcess: (pid: number) => () => void,
  ) {}

  /** How the program ended, with the last that it said; empty while it runs. */
  get ending(): string {
    return this.end && `${this.end}${this.stderr.trim() ? `: ${this.stderr.trim()}` : ''}`;
  }

  start(): Promise<void> {
    const { command, args, cwd, env } = this.server;
    const child = spawn(command, [...args], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child = child;
    child.stdout.on('data', (chunk: Buffer) => this.receive(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr = (this.stderr + chunk.toString()).slice(-STDERR_CHARS);
    });
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on('error', (err) => this.onerror?.(err));
    return new Promise((resolve, reject) => {
      child.once('error', (err) => {
        this.end = `it could not be started: ${err.message}`;
        reject(err);
      });
      child.once('spawn', () => {
        this.watch(child);
        resolve();
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const { child } = this;
    if (!child?.stdin.writable) throw new Error('its standard input is closed');
    await new Promise<void>((resolve, reject) =>
      child.stdin.write(this.serialize(message), (err) => (err ? reject(err) : resolve())),
    );
  }

  /** Ends the program and all that it started in its group; resolves when they are gone. */
  async close(): Promise<void> {
    const { child } = this;
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return this.exited;
    child.stdin.end();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await this.exitsWithin(GRACE_MS)) return;
      killGroup(child.pid, signal);
    }
    return this.exited;
  }

  private watch(child: Child): void {
    const pid = child.pid ?? 0;
    const forget = this.onProcess(pid);
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.end = `it ended with ${code ?? signal}`;
        // Whatever it left in its group serves nobody, and would hold the pipes open.
        killGroup(pid, 'SIGKILL');
        forget();
        const late = setTimeout(() => child.stdout.destroy(), CLOSE_MS);
        child.once('close', () => {
          clearTimeout(late);
          resolve();
          this.onclose?.();
        });
      });
    });
  }

  private async exitsWithin(ms: number): Promise<boolean> {
    const over = new AbortController();
    try {
      return await Promise.race([
        this.exited.then(() => true),
        delay(ms, false, { signal: over.signal }).catch(() => false),
      ]);
    } finally {
      over.abort();
    }
  }

  /** The limit of a message is the SDK's: it is handed a long one piece by piece. */
  private receive(chunk: Buffer): void {
    this.line.push(chunk);
    this.lineBytes += chunk.length;
    // A long message comes in many chunks; joined at each of them it would take the square of its length.
    if (!chunk.includes('\n') && this.lineBytes < JOIN_BYTES) return;
    const joined = Buffer.concat(this.line);
    this.line = [];
    this.lineBytes = 0;
    try {
      this.buffer.append(joined);
    } catch (err) {
      // A line without end: what follows cannot be understood any more.
      this.onerror?.(err as Error);
      void this.close();
      return;
    }
    for (;;) {
      try {
        const message = this.buffer.readMessage();
        if (!message) return;
        this.onmessage?.(message);
      } catch (err) {
        // A line that is no message, such as a greeting: the next may be one.
        this.onerror?.(err as Error);
      }
    }
  }
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left in it.
  }
}
