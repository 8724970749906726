// How a holder handles requests that are odd, from another release, or abandoned.
import { getEventListeners, once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { AttachConnection } from '../../../../exec/attach/attach-connection';
import { Attachment } from '../../../../exec/attach/attachment';
import { connectionBounds } from '../../../../system/processes/descriptors';
import { HolderClient, type HolderRecord } from '../../../../exec/client/holder-client';
import { Attachments } from '../../../../exec/holder/attachments';
import { Session } from '../../../../exec/holder/session';
import { writeJson } from '../../../../system/json-file';
import { identityOf } from '../../../../system/processes/process-identity';
import {
  FrameDecoder,
  PROTOCOL_VERSION,
  encodeFrame,
  type AnswerFrame,
  type RequestFrame,
  type Verb,
  type Verbs,
} from '../../../../exec/protocol';
import { AuditLog } from '../../../../exec/host/audit-log';
import { HostAccess } from '../../../../exec/host/host-access';
import { SessionHost } from '../../../../exec/host/session-host';
import { sessionPaths } from '../../../../exec/session-paths';
import type { HolderConfig } from '../../../../exec/holder-config';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';
import { until } from '../../../helpers/until';
import { endWithoutTrace, holderOf, linksOf, otherSession } from '../session-processes';
import { holderRecord } from '../../../helpers/terminals/holder-record';
import { ownRelease } from '../../../../system/package-root';

let t: TestHost;
beforeEach(() => (t = testHost()));
afterEach(() => endWithoutTrace(t));

const record = (): HolderRecord => holderRecord(t, t.ref);

/** A server in place of a session's holder, which records requests and gives scripted answers. */
async function pretend(
  answer: (frame: RequestFrame) => object | undefined,
): Promise<{ ref: TestHost['ref']; record: HolderRecord; frames: RequestFrame[]; end(): Promise<void> }> {
  const ref = otherSession(t, 7);
  const paths = sessionPaths(t.dataDir, ref);
  mkdirSync(paths.directory, { recursive: true });
  const frames: RequestFrame[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const decoder = new FrameDecoder<RequestFrame>();
    sockets.push(socket);
    socket.on('data', (chunk: Buffer) => {
      for (const frame of decoder.push(chunk)) {
        frames.push(frame);
        const given = answer(frame);
        if (given) socket.write(encodeFrame({ id: frame.id, ...given }));
      }
    });
  });
  const socketPath = join(t.dataDir, 'pretended.sock');
  server.listen(socketPath);
  await once(server, 'listening');
  const own = {
    identity: identityOf(process.pid),
    socketPath,
    token: 'x',
    version: PROTOCOL_VERSION,
    release: ownRelease(),
  };
  writeJson(paths.holder, own);
  const end = async (): Promise<void> => {
    writeJson(paths.holder, { ...own, identity: { ...own.identity, startTime: '0' } });
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  };
  return { ref, record: own, frames, end };
}

test('a verb that the holder does not know is refused by its name, and the session continues', async () => {
  await t.run('kept=1');
  const client = await HolderClient.connect(record());
  await expect(client.request('frobnicate' as Verb, {})).rejects.toMatchObject({
    code: 'invalid_input',
    facts: { got: 'frobnicate' },
  });
  client.close();
  expect((await t.run('echo $kept')).output).toBe('1\n');
});

test.each([
  [0, 0],
  [80, 0],
  [-1, 24],
  [80.5, 24],
  [10_000, 24],
  [80, 70_000],
])('a size of %d x %d changes nothing, neither at the attach nor later', async (cols, rows) => {
  await t.run(':');
  const person = await Attachment.open(t.dataDir, t.ref, {
    typist: { who: 'ada', take: false },
    size: { cols, rows },
  });
  expect(person.state.size).toEqual({ cols: 120, rows: 40 });
  await person.resize({ cols: 100, rows: 30 });
  await person.resize({ cols, rows });
  await t.host.reset(t.ref, { id: 'r', reason: null, by: 'reset' });
  expect((await t.run('stty size')).output).toBe('30 100\n');
  person.close();
});

test('a cancelled request is dropped by the holder and never answered', async () => {
  await t.run('read -r x', { yield: { firstOutputMs: 20 } });
  const { socketPath, token } = record();
  const socket = createConnection(socketPath);
  const answers: AnswerFrame[] = [];
  const decoder = new FrameDecoder<AnswerFrame>();
  socket.on('data', (chunk: Buffer) => void answers.push(...decoder.push(chunk)));
  const send = (id: number, verb: Verb, body: unknown): void =>
    void socket.write(encodeFrame({ id, token, version: PROTOCOL_VERSION, verb, body }));
  const exit = { until: { kind: 'exit', from: 0, timeoutMs: 60_000 } };
  send(1, 'attach', { typist: null, size: null });
  await until(() => answers.length === 1);
  const seen = answers[0]?.ok;
  for (const id of [2, 3]) send(id, 'observe', exit);
  for (const id of [4, 5]) send(id, 'watch', { from: 1e9, seen });
  for (const id of [2, 4, 99]) send(id + 100, 'cancel', { id });
  await until(() => answers.length === 4);
  await t.host.input(t.ref, { id: 'i', text: 'x\n', keys: [] });
  await until(() => answers.some(({ id }) => id === 3));
  send(6, 'status', {});
  await until(() => answers.some(({ id }) => id === 6));
  expect(answers.map(({ id }) => id).sort((a, b) => a - b)).toEqual([1, 3, 5, 6, 102, 104, 199]);
  socket.destroy();
});

test('a script that reads no answers is not read either, and the session continues', async () => {
  await t.run(':');
  const socket = createConnection(record().socketPath);
  await once(socket, 'connect');
  const call = (id: number): Buffer =>
    encodeFrame({ id, token: 'x', version: PROTOCOL_VERSION, verb: 'call', body: {} });
  const many = Buffer.concat(Array.from({ length: 5_000 }, (_, id) => call(id)));
  // Stalls once the buffers of the kernel and of the holder are full.
  let written = 0;
  for (let isFull = false; !isFull && written < 64 * 1024 * 1024; written += many.length) {
    if (!socket.write(many)) {
      const drained = once(socket, 'drain').then(() => false);
      isFull = await Promise.race([drained, new Promise<boolean>((r) => setTimeout(r, 1_000, true))]);
    }
  }
  expect(written).toBeLessThan(16 * 1024 * 1024);
  expect((await t.run('echo on')).output).toBe('on\n');
  socket.destroy();
});

test('thousands of silent connections cost a holder no more than their share, and keep nobody out', async () => {
  await t.run('KEPT=1');
  const { socketPath } = record();
  const { strangers: allowed } = connectionBounds();
  const before = linksOf(holderOf(t)).length;
  const silent: Socket[] = [];
  let ended = 0;
  while (silent.length < 3 * allowed) {
    const batch = Array.from({ length: 100 }, () => createConnection(socketPath));
    for (const socket of batch)
      socket
        .on('error', () => undefined)
        .on('close', () => (ended += 1))
        .resume();
    silent.push(...batch);
    await until(() => batch.every(({ connecting }) => !connecting));
    expect(linksOf(holderOf(t)).length - before).toBeLessThanOrEqual(allowed + batch.length);
  }
  await until(() => ended >= silent.length - allowed);
  expect((await t.run('echo $KEPT')).output).toBe('1\n');
  // Also by a connection that is made anew.
  const anew = new SessionHost(t.host.options);
  expect(await anew.status(t.ref)).toMatchObject({ epoch: 1, degraded: null });
  anew.detach();
  for (const socket of silent) socket.destroy();
});

test('a client that asks nothing for a while says who it is, so that it is not taken for a stranger', async () => {
  const holder = await pretend(() => ({ ok: {} }));
  const client = await HolderClient.connect(holder.record);
  await until(() => holder.frames.length === 1);
  expect(holder.frames[0]).toMatchObject({ token: holder.record.token, verb: 'cancel' });
  expect(await client.request('status', {})).toEqual({});
  client.close();
  await holder.end();
});

test('an abort is reported to the holder, and a settled request no longer listens to its signal', async () => {
  const holder = await pretend(({ verb }) => (verb === 'status' ? { ok: {} } : undefined));
  const client = await HolderClient.connect(holder.record);
  const abort = new AbortController();
  await client.request('status', {}, abort.signal);
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  const observing = client.request(
    'observe',
    { until: { kind: 'exit', from: 0, timeoutMs: 1 } },
    abort.signal,
  );
  abort.abort();
  await expect(observing).rejects.toThrow('aborted');
  await until(() => holder.frames.length === 3);
  const [, observe, cancel] = holder.frames;
  expect(cancel).toMatchObject({ verb: 'cancel', body: { id: observe?.id } });
  const other = new AbortController();
  const lost = client.request('observe', { until: { kind: 'exit', from: 0, timeoutMs: 1 } }, other.signal);
  client.close();
  await expect(lost).rejects.toThrow('closed');
  expect(getEventListeners(other.signal, 'abort')).toEqual([]);
  await holder.end();
});

test('what a session has answered leaves no listener at the connection that asked', async () => {
  const paths = sessionPaths(t.dataDir, otherSession(t, 8));
  mkdirSync(paths.directory, { recursive: true });
  const session = new Session({ treeKill: 'process-search' } as HolderConfig, paths, undefined);
  const { signal } = new AbortController();
  await session.observe({ kind: 'exit', from: 0, timeoutMs: 1 }, signal);
  const attachments = new Attachments(session, 8);
  const { end, ...seen } = attachments.attach({ typist: null, size: null }, signal);
  await attachments.watch({ from: end - 1, seen }, signal);
  const later = attachments.watch({ from: end, seen: { ...seen, epoch: 1 } }, signal);
  session.resize({ cols: 100, rows: 30 });
  session.changes.notify();
  await later;
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each([{ from: 1e15 }, { from: 0, seen: { epoch: 1, running: null, typist: null } }, null])(
  'a watch from another machine that does not say what was seen never reaches the holder: %j',
  async (body) => {
    const holder = await pretend(() => ({ ok: {} }));
    const [near, far] = duplexPair();
    const access = new HostAccess(t.dataDir, 'local');
    const options = { dataDir: t.dataDir, access, audit: new AuditLog(t.dataDir, 'local', () => undefined) };
    const peer = { address: 'elsewhere', pulseMs: undefined };
    new AttachConnection(far as Socket, holder.ref, peer, options).serve();
    const client = new HolderClient(near as Socket, '');
    await client.request('attach', { typist: null, size: null });
    const watching = client.request('watch', body as Verbs['watch']['request']);
    await expect(watching).rejects.toMatchObject({ code: 'invalid_input' });
    const seen = { epoch: 1, running: null, typist: null, size: { cols: 80, rows: 24 } };
    expect(await client.request('watch', { from: 0, seen })).toEqual({});
    expect(holder.frames.map(({ verb }) => verb)).toEqual(['attach', 'watch']);
    client.close();
    far.destroy();
    await holder.end();
  },
);

test('a frame that is not a request, or repeats an open one, closes its connection', async () => {
  await t.run('true');
  const { token, socketPath } = record();
  const observe = { id: 1, token, version: PROTOCOL_VERSION, verb: 'calls', body: { seen: 0 } };
  for (const frames of [[null], [observe, observe]]) {
    const socket = createConnection(socketPath);
    for (const frame of frames) socket.write(encodeFrame(frame as unknown as RequestFrame));
    socket.resume();
    await once(socket, 'close');
  }
  expect((await t.run('echo alive')).output).toBe('alive\n');
});

test('an answer that is too large to be read counts as a holder that went away, and harms nobody else', async () => {
  const fake = await pretend(() => ({ ok: 'x'.repeat(17 * 1024 * 1024) }));
  const client = await HolderClient.connect(fake.record);
  await expect(client.request('status', {})).rejects.toThrow('the holder closed the connection');
  await fake.end();
});
