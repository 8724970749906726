// Prints a session's output as it comes: from the log where it lies on this machine, else page by page
// through Temporal.
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionHandle } from '../client/session-handle';
import { HoldfastError } from '../contracts/errors';
import { MAX_PAGE_BYTES } from '../contracts/session';
import { logEnd, readLog } from '../exec/log-reader';
import { InertText } from './inert-text';

const LOOK_EVERY_MS = 25;
const CHUNK_BYTES = 1024 * 1024;

export interface Follower {
  /** Prints up to `offset` and ends. */
  finish(offset: number): Promise<void>;
  stop(): void;
}

export function followLog(path: string, from: number): Follower {
  const filter = inertFor(process.stdout);
  const stopped = new AbortController();
  let at = from;
  const print = async (to: number): Promise<void> => {
    while (at < to) {
      const data = readLog(path, at, Math.min(at + CHUNK_BYTES, to));
      if (data.length === 0) return;
      at += data.length;
      await write(filter.push(data));
    }
  };
  const loop = (async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await print(logEnd(path));
      await delay(LOOK_EVERY_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  const finish = async (offset: number): Promise<void> => {
    stopped.abort();
    await loop;
    await print(offset);
    await write(filter.end());
  };
  return { finish, stop: () => stopped.abort() };
}

/** For hosts elsewhere: the text of each page from now on, once a second at most. */
export async function followSession(session: SessionHandle): Promise<Follower> {
  const stopped = new AbortController();
  let at = await endOf(session);
  const look = async (wait: boolean): Promise<number> => {
    const waiting = wait ? ({ wait: 'output', waitMs: 5_000 } as const) : {};
    const view = await session.output({ maxBytes: MAX_PAGE_BYTES, from: at, ...waiting });
    at = view.to;
    await write(view.output);
    return view.to - view.from;
  };
  const loop = (async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await look(true).catch((err: unknown) => {
        // The session may not have been opened yet.
        if (!isMissing(err)) throw err;
      });
      await delay(1_000, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  // Told by `finish`: unheard until then, a rejection would end the process with a stack.
  loop.catch(() => undefined);
  const finish = async (offset: number): Promise<void> => {
    stopped.abort();
    await loop;
    while (at < offset && (await look(false)) > 0);
  };
  return { finish, stop: () => stopped.abort() };
}

async function endOf(session: SessionHandle): Promise<number> {
  try {
    return (await session.output()).to;
  } catch (err) {
    if (isMissing(err)) return 0;
    throw err;
  }
}

const isMissing = (err: unknown): boolean => err instanceof HoldfastError && err.code === 'not_found';

/** Colours only in a terminal that wants them. */
export const inertFor = (stream: NodeJS.WriteStream): InertText =>
  new InertText({ colours: stream.isTTY && !process.env.NO_COLOR, carriageReturns: stream.isTTY });

function write(text: string): Promise<void> {
  if (text === '') return Promise.resolve();
  return new Promise((resolve, reject) =>
    process.stdout.write(text, (err) => (err ? reject(err) : resolve())),
  );
}
