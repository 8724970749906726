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

/** For hosts elsewhere: the text of each page, once a second at most. */
export function followSession(session: SessionHandle): Follower {
  const stopped = new AbortController();
  let at: number | undefined;
  const look = async (wait: boolean): Promise<number> => {
    const waiting = wait ? ({ wait: 'output', waitMs: 5_000 } as const) : {};
    const view = await session.output({
      maxBytes: MAX_PAGE_BYTES,
      ...(at !== undefined && { from: at }),
      ...waiting,
    });
    at = view.to;
    await write(view.output);
    return view.to - view.from;
  };
  const loop = (async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await look(true).catch((err: unknown) => {
        // The session may not have been opened yet.
        if (!(err instanceof HoldfastError) || err.code !== 'not_found') throw err;
      });
      await delay(1_000, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  const finish = async (offset: number): Promise<void> => {
    stopped.abort();
    await loop;
    while ((at ?? 0) < offset && (await look(false)) > 0);
  };
  return { finish, stop: () => stopped.abort() };
}

/** Colours only in a terminal that wants them. */
export const inertFor = (stream: NodeJS.WriteStream): InertText =>
  new InertText({ colours: stream.isTTY && !process.env.NO_COLOR, carriageReturns: stream.isTTY });

function write(text: string): Promise<void> {
  if (text === '') return Promise.resolve();
  return new Promise((resolve, reject) =>
    process.stdout.write(text, (err) => (err ? reject(err) : resolve())),
  );
}
