// Reads parts of a session's log, and looks for texts in it, over the API.
import type { Found } from '../../contracts/gateway/api';
import { callApi, pathOf, problemOfAnswer, whenLost, type ProblemText } from '../api/call-api';
import { reachOf, windowOf, type Chunk, type LogPart, type LogWindow } from './log-windows';
import type { SessionPath } from './terminal-socket';

export const logPath = ({ agent, host, session }: SessionPath): string =>
  `${pathOf('sessions', agent, host, session)}/log`;

interface ReadPiece {
  chunk: Chunk;
  /** Where the log ends now. */
  end: number;
}

async function readPiece(path: string, { from, to }: LogPart, signal: AbortSignal): Promise<ReadPiece> {
  const lost = whenLost(OFFLINE, signal);
  const answer = await fetch(`${path}?from=${from}&bytes=${to - from}`, { signal }).catch(lost);
  if (!answer.ok) throw await problemOfAnswer(answer, path);
  const cause = answer.headers.get('Holdfast-Missing');
  const reached = Math.min(to, Number(answer.headers.get('Holdfast-To')));
  const end = Number(answer.headers.get('Holdfast-End'));
  const data = new Uint8Array(await answer.arrayBuffer().catch(lost));
  return { chunk: { from, to: reached, ...(cause === null ? { data } : { data: null, cause }) }, end };
}

const OFFLINE: ProblemText = {
  code: 'offline',
  detail: 'The gateway does not answer.',
  next: 'This goes on when it does.',
};

/** Where the log ends now. */
export async function endOfLog(path: string, signal: AbortSignal): Promise<number> {
  return (await readPiece(path, { from: 0, to: 1 }, signal)).end;
}

/** `end` is the log's end as far as it is known. */
export async function readWindow(
  path: string,
  index: number,
  { end: known, signal }: { end: number; signal: AbortSignal },
): Promise<LogWindow> {
  const { from, to } = reachOf(index, known);
  const chunks: Chunk[] = [];
  for (let at = from; at < to;) {
    const { chunk } = await readPiece(path, { from: at, to }, signal);
    if (chunk.to <= at) break;
    at = chunk.to;
    const last = chunks.at(-1);
    // Cuts are looked for in what lies together.
    if (last?.data && chunk.data)
      chunks.splice(-1, 1, { from: last.from, to: chunk.to, data: joined(last.data, chunk.data) });
    else chunks.push(chunk);
  }
  return windowOf(index, chunks, known);
}

function joined(one: Uint8Array, two: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + two.length);
  both.set(one);
  both.set(two, one.length);
  return both;
}

interface Search {
  text: string;
  /** Forwards: where a match may begin. Backwards: where it must end. */
  from: number;
  back: boolean;
  signal: AbortSignal;
  /** Called after each step with the offset that was reached. */
  onStep: (at: number) => void;
}

/** The next match; null if there is none. Ends between two steps when `signal` aborts. */
export async function findInLog(
  path: string,
  { text, from, back, signal, onStep }: Search,
): Promise<LogPart | null> {
  const bytes = new TextEncoder().encode(text).length;
  for (let at: number | null = from; at !== null;) {
    const query = new URLSearchParams({ text, from: String(at), back: String(back) });
    const found: Found = await callApi<Found>('GET', `${path}/find?${query.toString()}`, undefined, {
      signal,
    });
    if (found.at !== null) return { from: found.at, to: found.at + bytes };
    at = found.next;
    if (at !== null) onStep(at);
  }
  return null;
}
