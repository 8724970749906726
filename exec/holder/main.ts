// The holder: a small detached process that owns one session's terminal, log and socket and outlives every
// worker. Started by holder-client.ts with the session's folder; ends by `close` or TERM.
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { basename, dirname } from 'node:path';
import { HoldfastError, reasonOf } from '../../contracts/errors';
import { readJson, writeJson } from '../json-file';
import { identityOf } from '../process-identity';
import {
  FrameDecoder,
  PROTOCOL_VERSION,
  encodeFrame,
  type AnswerFrame,
  type RequestFrame,
  type Verbs,
} from '../protocol';
import { parseSessionDirectory, sessionPaths } from '../session-paths';
import type { HolderConfig } from '../spawn-holder';
import { Session } from './session';

const directory = process.argv[2] ?? '';
const ref = parseSessionDirectory(basename(directory));
if (!ref) throw new Error(`not a session's folder: ${directory}`);
const paths = sessionPaths(dirname(dirname(directory)), ref);
const config = readJson<HolderConfig>(paths.config);
if (!config) throw new Error(`no configuration in ${directory}`);
const session = new Session(config, paths);

/** Its starter was killed: the next worker opens the session anew, and one session has one holder. */
const leave = (): never => process.exit(0);
process.once('disconnect', leave);

const server = createServer((socket) => serve(socket));
// A socket file that is left over belongs to a dead holder: its starter has made sure of that.
rmSync(config.socketPath, { force: true });
server.once('error', (err) => {
  console.error(err);
  process.exit(1);
});
server.listen(config.socketPath, () => {
  chmodSync(config.socketPath, 0o600);
  if (process.send && !process.connected) leave();
  introduce();
  process.off('disconnect', leave);
  process.send?.('ready');
  process.disconnect?.();
});
// The shell outlives the terminal and the command line it was started from.
for (const signal of ['SIGHUP', 'SIGINT'] as const) process.on(signal, () => undefined);
// A fault in here must not end somebody's terminal: it is written down, and the next request goes on.
process.on('uncaughtException', (err) => console.error(new Date().toISOString(), err));
process.on('SIGTERM', () => void end('holder was told to end'));

/** Without a record of itself nobody finds it: then whoever started it is told at once. */
function introduce(): void {
  if (!config) return;
  const { socketPath, token } = config;
  try {
    const identity = identityOf(process.pid);
    writeJson(paths.holder, { identity, socketPath, token, version: PROTOCOL_VERSION });
  } catch (err) {
    console.error(reasonOf(err));
    rmSync(socketPath, { force: true });
    process.exit(1);
  }
}

function serve(socket: Socket): void {
  const decoder = new FrameDecoder<RequestFrame>();
  const abort = new AbortController();
  const send = (answer: AnswerFrame): void => {
    if (!socket.destroyed) socket.write(encodeFrame(answer));
  };
  socket.on('data', (chunk: Buffer) => {
    try {
      for (const frame of decoder.push(chunk)) void answer(frame, abort.signal).then(send);
    } catch (err) {
      socket.destroy(err as Error);
    }
  });
  socket.on('close', () => abort.abort());
  socket.on('error', () => socket.destroy());
}

async function answer(frame: RequestFrame, abort: AbortSignal): Promise<AnswerFrame> {
  const { id } = frame;
  try {
    if (frame.token !== config?.token) throw new HoldfastError('internal', { reason: 'wrong token' });
    return { id, ok: await perform(frame, abort) };
  } catch (err) {
    const error =
      err instanceof HoldfastError ? err : new HoldfastError('internal', { reason: reasonOf(err) });
    return { id, error: { code: error.code, facts: error.facts } };
  }
}

function perform({ verb, body }: RequestFrame, abort: AbortSignal): unknown {
  switch (verb) {
    case 'run':
      return session.run(body as Verbs['run']['request']);
    case 'observe':
      return session.observe((body as Verbs['observe']['request']).until, abort);
    case 'status':
      return session.snapshot();
    case 'input':
      return session.input(body as Verbs['input']['request']);
    case 'reset':
      return session.reset(body as Verbs['reset']['request']);
    case 'close':
      return end((body as Verbs['close']['request']).reason);
  }
}

async function end(reason: string | null): Promise<unknown> {
  const snapshot = await session.reset({ id: `close-${process.pid}`, reason, by: 'closed' });
  rmSync(paths.holder, { force: true });
  // Leaves the answer time to be written.
  setImmediate(() => server.close(() => undefined));
  setTimeout(() => process.exit(0), 50);
  return snapshot;
}
