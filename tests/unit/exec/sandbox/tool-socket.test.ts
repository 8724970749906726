// What a sandbox may request from its session's holder.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FrameDecoder, encodeFrame, type AnswerFrame, type RequestFrame } from '../../../../exec/protocol';
import { ToolSocket, toolSocketIn } from '../../../../exec/sandbox/tool-socket';
import { until } from '../../../helpers/until';

const BOUNDS = { strangers: 8, scripts: 8, identifyWithinMs: 1_500 };
let folder: string;
let holder: Server;
let reachedBy: number;
let socket: ToolSocket;
let reached: RequestFrame[];
let script: Socket;
let answers: AnswerFrame[];
let isClosed: boolean;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hf-tools-'));
  reached = [];
  reachedBy = 0;
  holder = createServer((peer) => {
    reachedBy += 1;
    const decoder = new FrameDecoder<RequestFrame>();
    peer
      .on('error', () => peer.destroy())
      .on('data', (chunk: Buffer) => {
        for (const frame of decoder.push(chunk)) {
          reached.push(frame);
          peer.write(encodeFrame({ id: frame.id, ok: 'done' }));
        }
      });
  }).listen(join(folder, 'holder.sock'));
  await once(holder, 'listening');
  socket = new ToolSocket(folder, join(folder, 'holder.sock'), BOUNDS);
  script = connect(toolSocketIn(folder));
  answers = [];
  isClosed = false;
  const decoder = new FrameDecoder<AnswerFrame>();
  script.on('data', (chunk: Buffer) => void answers.push(...decoder.push(chunk)));
  script.on('error', () => undefined).on('close', () => (isClosed = true));
  await once(script, 'connect');
});
afterEach(async () => {
  script.destroy();
  // Reported late it would count for the next test.
  await until(() => isClosed);
  socket.close();
  holder.close();
  rmSync(folder, { recursive: true, force: true });
});

const frame = (verb: string, id = 1): Buffer =>
  encodeFrame({ id, token: 't', version: 1, verb: verb as RequestFrame['verb'], body: { tool: 'x' } });

test('a call reaches the holder, and its answer the script', async () => {
  script.write(Buffer.concat([frame('call', 1), frame('call', 2)]));
  await until(() => answers.length === 2);
  expect(answers).toEqual([1, 2].map((id) => ({ id, ok: 'done' })));
  expect(reached.map(({ verb, token }) => [verb, token])).toEqual([
    ['call', 't'],
    ['call', 't'],
  ]);
});

test.each(['run', 'reset', 'close', 'status', 'input', 'answer', 'cancel', 'constructor'])(
  'the verb %s never reaches the holder, whatever token is shown',
  async (verb) => {
    script.write(Buffer.concat([frame(verb, 7), frame('call', 8)]));
    await until(() => isClosed);
    expect(answers).toMatchObject([{ id: 7, error: { code: 'invalid_input', facts: { got: verb } } }]);
    expect(reached).toEqual([]);
  },
);

test('anything that is not a frame ends its connection and no other', async () => {
  script.write(Buffer.from('\0\0\0\x04null'));
  await until(() => isClosed);
  const other = connect(toolSocketIn(folder));
  other.write(frame('call'));
  await once(other, 'data');
  other.destroy();
  expect(reached).toHaveLength(1);
});

test('connections without a call never reach the holder, are ended, and keep no script from calling', async () => {
  let ended = 0;
  const silent = Array.from({ length: 200 }, (_, n) => {
    const one = connect(toolSocketIn(folder)).on('error', () => undefined);
    // Some begin a frame, and never end it.
    if (n % 2) one.write(frame('call').subarray(0, 9));
    return one.on('close', () => (ended += 1)).resume();
  });
  await until(() => ended >= silent.length - BOUNDS.strangers);
  const other = connect(toolSocketIn(folder));
  other.write(frame('call'));
  await once(other, 'data');
  await until(() => ended === silent.length);
  // That one has called, and stays.
  other.write(frame('call', 2));
  await once(other, 'data');
  other.destroy();
  expect([reached.length, reachedBy]).toEqual([2, 1]);
});
