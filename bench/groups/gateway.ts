// `holdfast serve`, in a process of its own, against the client and against reading a session's log directly.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';
import { TERMINAL_PROTOCOL, OFFSET_BYTES, type FromServer } from '../../contracts/gateway/terminal';
import { Attachment } from '../../exec/attach/attachment';
import { TokenStore } from '../../gateway/access/token-store';
import { atLeast, atMost, below, inTurn, timed, type Row } from '../measure';
import { firstPaint, killed, startServe } from '../page';
import { cpuSeconds, peakMb, residentMb } from '../processes';
import { uniqueId, until, type Bench } from '../setting';

const ROUNDS = 60;
const KEYS = 200;
const PROGRAM = 'while read -r l; do echo "got $l"; done';
const FLOOD_BYTES = 100_000_000;
const FLOOD = `yes ${'x'.repeat(99)} | head -c ${FLOOD_BYTES}`;
const PATIENT = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };
const IDLE_MS = 15_000;

interface Served {
  url: string;
  pid: number;
  token: string;
}

export async function gateway(bench: Bench): Promise<Row[]> {
  const { child, url, pid } = await startServe(bench.dataDir);
  try {
    const grant = { name: 'bench', role: 'operator' as const, agents: ['*'], validMs: null };
    const { token } = await new TokenStore(bench.dataDir).create(grant);
    const served = { url, pid, token };
    return [
      ...(await commands(bench, served)),
      ...(await keys(bench, served)),
      ...(await flood(bench, served)),
      ...(await firstPaint(served)),
      ...(await idle(bench, served)),
      ...(await killed(bench, token)),
    ];
  } finally {
    child.kill('SIGTERM');
  }
}

async function commands({ client }: Bench, { url, token }: Served): Promise<Row[]> {
  const agent = uniqueId('api');
  const session = client.session({ agent, session: 0 });
  const ours = (): Promise<number> =>
    timed(async () => {
      const answer = await fetch(`${url}/v1/sessions/${agent}/local/0/exec`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: '{"code":"true"}',
      });
      if (!answer.ok) throw new Error(await answer.text());
      await answer.json();
    });
  const base = (): Promise<number> => timed(() => session.exec({ code: 'true' }));
  await inTurn(5, base, ours);
  const pair = await inTurn(ROUNDS, ours, base);
  await session.close('measured');
  return [atMost("API: `exec true` / the client's", pair, 1.1)];
}

async function keys({ client, dataDir }: Bench, served: Served): Promise<Row[]> {
  const ref = { agent: uniqueId('keys'), host: 'local', session: 0 };
  const session = client.session(ref);
  await session.exec({ code: PROGRAM });
  const socket = await Terminal.open(served, ref.agent, true);
  for (let n = 0; n < 20; n++) await socket.reacts();
  const attachment = await Attachment.open(dataDir, ref, { typist: null, size: null });
  let seen = '';
  let onSeen: (() => void) | undefined;
  void (async () => {
    for await (const change of attachment.changes(attachment.state.end))
      if (change.kind === 'output') {
        seen += change.data.toString('latin1');
        onSeen?.();
      }
  })();
  // The same key, typed through the socket, seen by both: the rest of its way is the same.
  const both = async (): Promise<{ ours: number; base: number }> => {
    const line = uniqueId('key');
    const began = performance.now();
    seen = '';
    const base = new Promise<number>((resolve) => {
      onSeen = () => {
        if (seen.includes(`got ${line}`)) resolve(performance.now() - began);
      };
    });
    const ours = socket.reacts(line);
    return { ours: await ours, base: await base };
  };
  const pairs: { ours: number; base: number }[] = [];
  for (let n = 0; n < KEYS; n++) pairs.push(await both());
  attachment.close();
  socket.close();
  await session.close('measured');
  const middle = (of: 'ours' | 'base'): number =>
    pairs.map((pair) => pair[of]).toSorted((a, b) => a - b)[KEYS / 2] ?? NaN;
  const pair = { ours: middle('ours'), base: middle('base') };
  return [
    atMost('a byte printed, to the WebSocket’s client / to one that is attached', pair, 1.5),
    below('- the same', pair.ours, 'ms', 30),
  ];
}

async function flood({ client, dataDir }: Bench, served: Served): Promise<Row[]> {
  const ref = { agent: uniqueId('watched'), host: 'local', session: 0 };
  const session = client.session(ref);
  await session.exec({ code: 'true' });
  const socket = await Terminal.open(served, ref.agent, false);
  const before = residentMb(served.pid);
  let took = { ours: NaN, base: NaN };
  const [peak = NaN] = await peakMb([served.pid], async () => {
    const attachment = await Attachment.open(dataDir, ref, { typist: null, size: null });
    const attached = async (): Promise<void> => {
      let bytes = 0;
      for await (const change of attachment.changes(attachment.state.end)) {
        if (change.kind === 'output') bytes += change.data.length;
        if (bytes >= FLOOD_BYTES) return;
      }
    };
    const start = socket.bytes;
    const run = session.exec({ code: FLOOD, yield: PATIENT });
    const [ours, base] = await Promise.all([
      timed(() => until(() => socket.bytes - start >= FLOOD_BYTES, 5)),
      timed(attached),
      run,
    ]);
    took = { ours, base };
    attachment.close();
  });
  socket.close();
  await session.close('measured');
  const rate = (ms: number): number => FLOOD_BYTES / 1e6 / (ms / 1e3);
  const pair = { ours: rate(took.ours), base: rate(took.base) };
  return [
    atLeast('100 MB flood to a watcher / to one that is attached', pair, 0.5, 'MB/s'),
    below('- growth of the gateway’s memory at its most', peak - before, 'MB', 64),
  ];
}

/** 200 watchers of 20 terminals, 500 followers of 20 agents, and nothing happens. */
async function idle({ client }: Bench, served: Served): Promise<Row[]> {
  const agents = Array.from({ length: 20 }, () => uniqueId('idle'));
  const over = new AbortController();
  const terminals: Terminal[] = [];
  for (const agent of agents) {
    await client.agent(agent).start({ mode: 'conversation', model: 'scripted:none' });
    await client.session({ agent, session: 0 }).exec({ code: 'cat' });
    for (let n = 0; n < 10; n++) terminals.push(await Terminal.open(served, agent, false));
    for (let n = 0; n < 25; n++) void follow(served, agent, over.signal);
  }
  await delay(IDLE_MS);
  const [began, cpu] = [performance.now(), cpuSeconds([served.pid])];
  await delay(IDLE_MS);
  const used = (cpuSeconds([served.pid]) - cpu) / ((performance.now() - began) / 1e3);
  const memory = residentMb(served.pid);
  over.abort();
  for (const terminal of terminals) terminal.close();
  for (const agent of agents) await client.agent(agent).stop('measured');
  return [
    below('200 watchers of 20 terminals, 500 followers of 20 agents: of one core', used * 100, '%', 50),
    below('- memory of the gateway', memory, 'MB', 300),
  ];
}

async function follow({ url, token }: Served, agent: string, signal: AbortSignal): Promise<void> {
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const { body } = await fetch(`${url}/v1/agents/${agent}/events`, { headers, signal });
    for await (const chunk of body ?? []) void chunk;
  } catch {
    // The measurement is over.
  }
}

class Terminal {
  bytes = 0;
  private text = '';
  private waiting: { text: string; seen: () => void } | undefined;

  private constructor(private readonly socket: WebSocket) {
    let offset = 0;
    let acked = 0;
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) return;
      const output = data.subarray(OFFSET_BYTES);
      this.bytes += output.length;
      offset = Number(data.readBigUInt64BE(0)) + output.length;
      // As a page does it: not for each frame.
      if (offset - acked > 256 * 1024) socket.send(JSON.stringify({ kind: 'ack', to: (acked = offset) }));
      if (!this.waiting) return;
      this.text += output.toString('latin1');
      if (this.text.includes(this.waiting.text)) this.waiting.seen();
    });
  }

  static async open({ url, token }: Served, agent: string, types: boolean): Promise<Terminal> {
    const socket = new WebSocket(
      `${url.replace('http', 'ws')}/v1/sessions/${agent}/local/0/terminal`,
      TERMINAL_PROTOCOL,
      { headers: { Authorization: `Bearer ${token}` } },
    );
    const terminal = new Terminal(socket);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send(JSON.stringify({ kind: 'hello', from: null, cols: 80, rows: 24, types }));
    await new Promise<void>((resolve) =>
      socket.on('message', (data: Buffer, isBinary) => {
        if (!isBinary && (JSON.parse(data.toString('utf8')) as FromServer).kind === 'snapshot') resolve();
      }),
    );
    return terminal;
  }

  /** Types a line; the time until the program's reaction to it is here, in milliseconds. */
  reacts(line = uniqueId('key')): Promise<number> {
    this.text = '';
    const seen = new Promise<void>((resolve) => (this.waiting = { text: `got ${line}`, seen: resolve }));
    const data = Buffer.from(`${line}\r`).toString('base64');
    return timed(() => {
      this.socket.send(JSON.stringify({ kind: 'input', id: randomUUID(), data }));
      return seen;
    });
  }

  close(): void {
    this.socket.terminate();
  }
}
