// Communicates with a program over its standard input and output. The SDK's own transport leaves the program in the
// worker's process group and kills only the program: processes that `npx` starts would outlive it.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { withPipes } from '../../system/processes/with-pipes';
import type { StdioServer } from './mcp-settings';
import { MessageLines } from './reader/message-lines';
import { MessageReader } from './reader/message-reader';
import { endOf } from '../../contracts/text/well-formed';

/** A server should exit when its input ends; one that does not gets a signal, and is then killed. */
const GRACE_MS = 2_000;
const STDERR_CHARS = 2_000;
/** A process that left the group may hold the pipes open. */
const CLOSE_MS = 1_000;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

export class GroupStdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  private child: Child | undefined;
  private exited: Promise<void> = Promise.resolve();
  private readonly lines = new MessageLines();
  private readonly reader = new MessageReader();
  private stderr = '';
  private end = '';

  constructor(
    private readonly server: StdioServer,
    /** Called with the process group; the returned function is called when the group is gone. */
    private readonly onProcess: (pid: number) => () => void,
  ) {}

  /** How the program ended, with its last error output; empty while it runs. */
  get ending(): string {
    return this.end && `${this.end}${this.stderr.trim() ? `: ${this.stderr.trim()}` : ''}`;
  }

  /** Whether it takes no more messages: it has ended, is being ended, or has closed its input. */
  get isEnding(): boolean {
    return this.child?.stdin.writable === false;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.server;
    const child = withPipes(
      spawn(command, [...args], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] }),
    );
    this.child = child;
    child.stdout.on('data', (chunk: Buffer) => this.receive(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      this.stderr = endOf(this.stderr + chunk.toString(), STDERR_CHARS);
    });
    // A program that has closed its output can answer nothing, even if it goes on.
    child.stdout.once('end', () => void this.close());
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream.on('error', (err) => this.onerror?.(err));
    await new Promise<void>((resolve, reject) => {
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
    this.reader.sent(message);
    try {
      await new Promise<void>((resolve, reject) =>
        child.stdin.write(`${JSON.stringify(message)}\n`, (err) => (err ? reject(err) : resolve())),
      );
    } catch (err) {
      // It is ending, or has closed its input: how it ended says more than a failed write.
      await this.close();
      throw err;
    }
  }

  /** Ends the program and everything in its process group; resolves when they are gone. */
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
        // Processes left in its group are useless, and would hold the pipes open.
        killGroup(pid, 'SIGKILL');
        forget();
        const late = setTimeout(() => {
          child.stdout.destroy();
          child.stderr.destroy();
        }, CLOSE_MS);
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

  private receive(chunk: Buffer): void {
    let texts: string[];
    try {
      texts = this.lines.push(chunk);
    } catch (err) {
      // An endless line: nothing after it can be read.
      this.onerror?.(err as Error);
      void this.close();
      return;
    }
    for (const text of texts) {
      try {
        for (const message of this.reader.read(text)) this.onmessage?.(message);
      } catch (err) {
        // A line that is not a message, such as a greeting: the next may be one.
        this.onerror?.(err as Error);
      }
    }
  }
}

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // No process is left in it.
  }
}
