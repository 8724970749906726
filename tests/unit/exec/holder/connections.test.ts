// Who is served at a holder's socket, however many strangers and scripts there are.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectionBounds } from '../../../../system/processes/descriptors';
import { Connections } from '../../../../exec/holder/calls/connections';
import {
  FrameDecoder,
  MAX_FRAME_BYTES,
  MAX_UNFINISHED_BYTES,
  encodeFrame,
  type AnswerFrame,
  type Verb,
} from '../../../../exec/protocol';
import { until } from '../../../helpers/until';

const BOUNDS = { strangers: 4, scripts: 3, identifyWithinMs: 1_500 };

let folder: string;
let server: Server;
let peers: Peer[];
/** Ends the calls that are open, one after the other. */
let endCall: (() => void)[];

interface Peer {
  socket: Socket;
  answers: AnswerFrame[];
  isClosed: boolean;
  ask: (verb: Verb, token: string, id?: number) => void;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hf-door-'));
  peers = [];
  endCall = [];
});
async function listen(bounds = BOUNDS): Promise<void> {
  const connections = new Connections(
    {
      token: 'host',
      isScript: (token) => token === 'script',
      isEnding: () => false,
      perform: ({ verb }) =>
        verb === 'call' ? new Promise((resolve) => endCall.push(() => resolve('called'))) : 'done',
    },
    bounds,
  );
  server = createServer((socket) => connections.serve(socket)).listen(join(folder, 'holder.sock'));
  await once(server, 'listening');
}
afterEach(() => {
  for (const { socket } of peers) socket.destroy();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

function comes(): Peer {
  const socket = connect(join(folder, 'holder.sock'));
  const decoder = new FrameDecoder<AnswerFrame>();
  const peer: Peer = {
    socket,
    answers: [],
    isClosed: false,
    ask: (verb, token, id = 1) => void socket.write(encodeFrame({ id, token, version: 1, verb, body: {} })),
  };
  socket.on('data', (chunk: Buffer) => void peer.answers.push(...decoder.push(chunk)));
  socket.on('error', () => undefined).on('close', () => (peer.isClosed = true));
  peers.push(peer);
  return peer;
}
const come = (count: number): Peer[] => Array.from({ length: count }, comes);
const closed = (among: Peer[]): number => among.filter(({ isClosed }) => isClosed).length;

test('strangers, however many, are disconnected in time, and a client with a token is served among them and stays', async () => {
  await listen();
  const before = comes();
  before.ask('status', 'host');
  await until(() => before.answers.length === 1);
  const strangers = come(100);
  // A wrong token, or one of a finished command, authenticates no one.
  strangers[98]?.ask('status', 'guess');
  strangers[99]?.ask('call', 'old');
  await until(() => closed(strangers) >= 100 - BOUNDS.strangers);
  const late = comes();
  late.ask('status', 'host');
  await until(() => late.answers.length === 1);
  await until(() => closed(strangers) === 100);
  for (const peer of [before, late]) peer.ask('status', 'host', 2);
  await until(() => before.answers.length === 2 && late.answers.length === 2);
  expect([before, late].map(({ answers }) => answers)).toEqual(
    Array(2).fill([
      { id: 1, ok: 'done' },
      { id: 2, ok: 'done' },
    ]),
  );
});

test('scripts have as many connections as they may, and one too many is refused with the reason; the host is not counted', async () => {
  await listen();
  const scripts = come(BOUNDS.scripts);
  for (const script of scripts) script.ask('call', 'script');
  await until(() => endCall.length === BOUNDS.scripts);
  const tooMany = comes();
  tooMany.ask('call', 'script');
  await until(() => tooMany.answers.length === 1);
  expect(tooMany.answers).toMatchObject([
    { error: { code: 'budget_exceeded', facts: { got: 4, allowed: 3 } } },
  ]);
  const host = comes();
  host.ask('status', 'host');
  await until(() => host.answers.length === 1);
  endCall[0]?.();
  await until(() => scripts[0]?.answers.length === 1);
  // That one has no call open any more: it makes room, and those that have one do not.
  const next = comes();
  next.ask('call', 'script');
  await until(() => endCall.length === BOUNDS.scripts + 1);
  await until(() => closed(scripts) === 1);
  for (const end of endCall) end();
  await until(() => [scripts[1], scripts[2], next].every((peer) => peer?.answers.length === 1));
  expect(scripts.map(({ isClosed }) => isClosed)).toEqual([true, false, false]);
});

test('a known script may be silent for as long as it likes', async () => {
  await listen();
  const script = comes();
  script.ask('call', 'script');
  await until(() => endCall.length === 1);
  const stranger = comes();
  await until(() => stranger.isClosed);
  endCall[0]?.();
  await until(() => script.answers.length === 1);
  expect(script.isClosed).toBe(false);
});

test('scripts that begin many calls at once are all served', async () => {
  await listen(connectionBounds(20_000));
  const scripts = come(400);
  // Connected long before they say anything, as threads of a busy machine are.
  await until(() => scripts.every(({ socket }) => !socket.connecting));
  for (const script of scripts) script.ask('call', 'script');
  await until(() => endCall.length === scripts.length);
  for (const end of endCall) end();
  await until(() => scripts.every(({ answers }) => answers.length === 1));
  expect(closed(scripts)).toBe(0);
});

test('unfinished frames fill no memory', async () => {
  await listen();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(MAX_FRAME_BYTES);
  const piece = Buffer.alloc(MAX_FRAME_BYTES - 1);
  const hosts: Peer[] = [];
  for (let n = 0; n < MAX_UNFINISHED_BYTES / MAX_FRAME_BYTES + 4; n++) {
    const peer = comes();
    hosts.push(peer);
    peer.ask('status', 'host');
    await until(() => peer.answers.length === 1);
    peer.socket.write(length);
    await new Promise<void>((resolve) => {
      peer.socket.write(piece, () => resolve());
      peer.socket.once('close', resolve);
    });
  }
  await until(() => closed(hosts) > 0);
  expect(closed(hosts)).toBeLessThanOrEqual(5);
  const next = comes();
  next.ask('status', 'host');
  await until(() => next.answers.length === 1);
});

test.each([
  [1_024, 85],
  [20_000, 1_024],
  [Infinity, 1_024],
])('with %d descriptors there is room for %d strangers and as many scripts', (limit, each) => {
  expect(connectionBounds(limit)).toMatchObject({ strangers: each, scripts: each });
  // At both sockets of a sandboxed session, beside its proxy.
  expect(5 * each + 512).toBeLessThan(limit - 64);
});
