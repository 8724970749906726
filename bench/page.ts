// What a person at the page of `holdfast serve` waits for: the first paint, and the terminal after a gateway was killed.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import WebSocket from 'ws';
import { OFFSET_BYTES, TERMINAL_PROTOCOL } from '../contracts/gateway/terminal';
import { findOnPath } from '../system/executable';
import { packageRoot } from '../system/package-root';
import { below, median, type Row } from './measure';
import { uniqueId, type Bench } from './setting';

const KILLS = 5;
const PAINTS = 5;
/** As the page waits before it comes back: 0.5 s, 1 s, 2 s ... */
const FIRST_WAIT_MS = 500;
const TICKS = 'while :; do echo tick; sleep 0.02; done';

export interface ServeProcess {
  child: ChildProcess;
  url: string;
  pid: number;
}

/** Starts `holdfast serve`; resolves when it listens. */
export async function startServe(dataDir: string, listen = '127.0.0.1:0'): Promise<ServeProcess> {
  const child = spawn(
    process.execPath,
    [join(packageRoot(), 'bin', 'holdfast.js'), 'serve', '--json', '--listen', listen],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, HOLDFAST_DATA: dataDir } },
  );
  const output = await new Promise<string>((resolve) =>
    child.stdout.setEncoding('utf8').once('data', resolve),
  );
  return { child, ...(JSON.parse(output) as { url: string; pid: number }) };
}

/** Kills a gateway, starts it again at once, and waits for the next byte of a program that prints all the time. */
export async function killed({ client, dataDir }: Bench, token: string): Promise<Row[]> {
  const agent = uniqueId('killed');
  const session = client.session({ agent, session: 0 });
  await session.exec({ code: TICKS, yield: { maxMs: 500, firstOutputMs: 500 } });
  let serve = await startServe(dataDir);
  const watcher = new Watcher(
    `${serve.url.replace('http', 'ws')}/v1/sessions/${agent}/local/0/terminal`,
    token,
  );
  const times: number[] = [];
  try {
    await watcher.nextByte();
    for (let n = 0; n < KILLS; n++) {
      const listen = new URL(serve.url).host;
      serve.child.kill('SIGKILL');
      const began = performance.now();
      await once(serve.child, 'exit');
      const again = startServe(dataDir, listen);
      await watcher.nextConnection();
      await watcher.nextByte();
      times.push(performance.now() - began);
      serve = await again;
    }
  } finally {
    watcher.close();
    serve.child.kill('SIGTERM');
    await session.close('measured');
  }
  return [
    below('gateway killed and started again: a watcher sees the next byte', median(times), 'ms', 2_000),
  ];
}

/** Comes back by itself with its offset, as the page does. */
class Watcher {
  private socket: WebSocket | undefined;
  private offset: number | null = null;
  private attempt = 0;
  private isOver = false;
  private onByte: (() => void) | undefined;
  private onOpen: (() => void) | undefined;

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {
    this.connect();
  }

  nextByte(): Promise<void> {
    return new Promise((resolve) => (this.onByte = resolve));
  }

  nextConnection(): Promise<void> {
    return new Promise((resolve) => (this.onOpen = resolve));
  }

  close(): void {
    this.isOver = true;
    this.socket?.terminate();
  }

  private connect(): void {
    const headers = { Authorization: `Bearer ${this.token}` };
    const socket = new WebSocket(this.url, TERMINAL_PROTOCOL, { headers });
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('open', () => {
      this.attempt = 0;
      socket.send(JSON.stringify({ kind: 'hello', from: this.offset, cols: 80, rows: 24, types: false }));
      this.onOpen?.();
    });
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return;
      this.offset = Number(data.readBigUInt64BE(0)) + data.length - OFFSET_BYTES;
      socket.send(JSON.stringify({ kind: 'ack', to: this.offset }));
      this.onByte?.();
    });
    socket.on('close', () => {
      if (this.isOver) return;
      void delay(FIRST_WAIT_MS * 2 ** this.attempt++).then(() => {
        if (!this.isOver) this.connect();
      });
    });
  }
}

/** From an empty cache to the inbox, in Chromium; no row where there is none. */
export async function firstPaint({ url, token }: { url: string; token: string }): Promise<Row[]> {
  const executablePath = ['chromium', 'chromium-browser', 'google-chrome']
    .map((name) => findOnPath(name, process.env.PATH))
    .find((path) => path !== undefined);
  if (executablePath === undefined) return [];
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
  const times: number[] = [];
  try {
    for (let n = 0; n < PAINTS; n++) {
      const context = await browser.newContext();
      const page = await context.newPage();
      const began = performance.now();
      await page.goto(`${url}/#token=${token}`, { waitUntil: 'commit' });
      await page.getByRole('heading', { name: 'Inbox' }).waitFor();
      times.push(performance.now() - began);
      await context.close();
    }
  } finally {
    await browser.close();
  }
  return [below('the page: first useful paint, with an empty cache', median(times), 'ms', 1_000)];
}
