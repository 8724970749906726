// The log of a session as a file, and where a text is in it.
import { createHash } from 'node:crypto';
import { rmSync, truncateSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { segmentsOf } from '../../../../exec/output/log-segments';
import { logEnd, nextPiece, readWhole, type Piece } from '../../../../exec/output/log-reader';
import { sessionPaths } from '../../../../exec/session-paths';
import { logStream } from '../../../../gateway/terminals/log-stream';
import { ApiClient } from '../../../helpers/gateway/gateway';
import { GatewayOfItsOwn } from '../../../helpers/gateway/gateway-of-its-own';
import { printing } from '../../../helpers/printed';
import { QUICK_YIELD, uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

const own = new GatewayOfItsOwn();
const { engine } = own;
const LOG_BYTES = 40_000_000;
const agent = uniqueId('d');
const session = `/v1/sessions/${agent}/local/0`;
const logFile = (): string => sessionPaths(engine.dataDir, { agent, host: 'local', session: 0 }).log;
const PATIENT = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };

beforeAll(async () => {
  await own.start();
  const code = `echo début; yes ${'x'.repeat(98)} | head -c ${LOG_BYTES}; echo the needle; yes y | head -c 3000000; echo end`;
  await own.api.post(`${session}/exec`, { code, yield: PATIENT });
}, 120_000);
afterAll(() => own.end(), 60_000);

const ask = (path: string, token = own.api.token): Promise<Response> =>
  fetch(`${own.gateway.url}${path}`, { headers: { Authorization: `Bearer ${token ?? ''}` } });
const hashOf = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const downloaded = async (): Promise<Buffer> =>
  Buffer.from(await (await ask(`${session}/log/download`)).arrayBuffer());

/** The log itself, with what was read and whether it was closed. */
function watchedPlace(): { place: Parameters<typeof logStream>[0]; read: Piece[]; isClosed: () => boolean } {
  const read: Piece[] = [];
  let isClosed = false;
  const place = {
    attach: () => Promise.reject(new Error('not here')),
    read: (from: number, to: number) => {
      const piece = nextPiece(logFile(), from, to);
      read.push(piece);
      return Promise.resolve(piece);
    },
    end: () => Promise.resolve(logEnd(logFile())),
    close: () => void (isClosed = true),
  };
  return { place, read, isClosed: () => isClosed };
}

test('the download is the whole log, byte for byte, with a safe name', async () => {
  const answer = await ask(`${session}/log/download`);
  const data = Buffer.from(await answer.arrayBuffer());
  const log = readWhole(logFile(), 0, logEnd(logFile()));
  expect(log.length).toBeGreaterThan(LOG_BYTES);
  expect(data.length).toBe(log.length);
  expect(hashOf(data)).toBe(hashOf(log));
  expect(answer.headers.get('Content-Disposition')).toBe(`attachment; filename="${agent}-local-0.log"`);
  expect(answer.headers.get('Content-Type')).toBe('application/octet-stream');
});

test('an offset beyond the end of the log is refused as one, with the offsets that it has', async () => {
  const end = logEnd(logFile());
  const beyond = await ask(`${session}/log?from=${end + 1}`);
  expect(beyond.status).toBe(416);
  const problem = (await beyond.json()) as Record<string, unknown>;
  expect(problem).toMatchObject({ code: 'offset_out_of_range', facts: { got: end + 1, allowed: end } });
  expect(JSON.stringify(problem)).not.toContain(engine.dataDir);
  const atEnd = await ask(`${session}/log?from=${end}`);
  expect([atEnd.status, (await atEnd.arrayBuffer()).byteLength]).toEqual([200, 0]);
});

test('nothing of the log is read before the client has taken what came before', async () => {
  const { place, read, isClosed } = watchedPlace();
  const reader = (await logStream(place, new AbortController().signal)).getReader();
  expect(read).toHaveLength(0);
  for (const n of [1, 2, 3]) {
    await reader.read();
    expect(read).toHaveLength(n);
  }
  await reader.cancel();
  expect(isClosed()).toBe(true);
});

test('a download whose token is revoked breaks off instead of ending', async () => {
  const { place, isClosed } = watchedPlace();
  const over = new AbortController();
  const reader = (await logStream(place, over.signal)).getReader();
  await reader.read();
  over.abort(new Error('revoked'));
  await expect(reader.read()).rejects.toThrow('revoked');
  expect(isClosed()).toBe(true);
});

test('a client that is still downloading when its token is revoked does not get to the end', async () => {
  const { token, stored } = await own.gateway.tokens.create({
    ...{ name: 'brief', role: 'viewer', agents: ['*'], validMs: null },
  });
  const reader = (await ask(`${session}/log/download`, token)).body?.getReader();
  await reader?.read();
  await own.gateway.tokens.revoke(stored.id);
  const drain = async (): Promise<void> => {
    // The rest takes longer than the gateway's next look at its token.
    while (reader && !(await reader.read()).done) await delay(10);
  };
  await printing('a download broke off: This needs a token', () => expect(drain()).rejects.toThrow());
});

test('of a log that somebody has just truncated, each way to read it says what is lost', async () => {
  const cut = uniqueId('cut');
  const path = `/v1/sessions/${cut}/local/0`;
  await own.api.post(`${path}/exec`, { code: 'echo 0123456789; cat', yield: QUICK_YIELD });
  const { log } = sessionPaths(engine.dataDir, { agent: cut, host: 'local', session: 0 });
  await until(() => logEnd(log) === 12);
  truncateSync(log, 4);
  expect(await (await ask(`${path}/log/download`)).text()).toMatch(/^0123\r\n\[8 bytes are lost: .*\]\r\n$/);
  truncateSync(log, 2);
  const piece = await ask(`${path}/log?from=2`);
  expect(Object.fromEntries(piece.headers)).toMatchObject({
    ...{ 'holdfast-to': '12', 'holdfast-end': '12', 'holdfast-missing': 'truncated' },
  });
  truncateSync(log, 0);
  expect(await own.api.get(`${path}/log/find?text=0123`)).toEqual({ at: null, next: null });
});

test('only who may see the agent gets its log', async () => {
  const other = await ApiClient.of(own.gateway, 'viewer', ['others-*']);
  const none = await fetch(`${own.gateway.url}${session}/log/download`);
  expect(none.status).toBe(401);
  for (const path of ['log/download', 'log/find?text=x'])
    expect((await ask(`${session}/${path}`, other.token)).status).toBe(403);
  expect((await ask(`/v1/sessions/${agent}/local/7/log/download`)).status).toBe(404);
});

interface Step {
  at: number | null;
  next: number | null;
}

/** All steps of one search. */
async function search(text: string, query: Record<string, string>): Promise<Step[]> {
  const steps: Step[] = [];
  for (let next: number | null = Number(query.from); next !== null; next = steps.at(-1)?.next ?? null) {
    const asked = new URLSearchParams({ ...query, text, from: String(next) });
    steps.push(await own.api.get<Step & Record<string, unknown>>(`${session}/log/find?${asked.toString()}`));
  }
  return steps;
}

test('a text is found forwards and backwards, in steps, over the edges of what is read at a time', async () => {
  const log = readWhole(logFile(), 0, logEnd(logFile()));
  const needle = log.indexOf('the needle');
  const ahead = await search('the needle', { from: '0' });
  expect(ahead.at(-1)).toEqual({ at: needle, next: null });
  expect(ahead.length).toBeGreaterThan(1);
  expect((await search('the needle', { from: String(needle + 1) })).at(-1)).toEqual({ at: null, next: null });
  const back = await search('the needle', { from: String(log.length), back: 'true' });
  expect(back.at(-1)).toEqual({ at: needle, next: null });
  expect((await search('the needle', { from: String(needle + 3), back: 'true' })).at(-1)?.at).toBe(null);
  // The edge of a piece is within the text.
  const [ahead1, back1] = [needle + 5 - 1024 * 1024, needle + 5 + 1024 * 1024];
  expect((await search('the needle', { from: String(ahead1) })).at(-1)?.at).toBe(needle);
  expect((await search('the needle', { from: String(back1), back: 'true' })).at(-1)?.at).toBe(needle);
  expect((await search('début', { from: '0' })).at(-1)).toEqual({ at: 0, next: null });
  // The edge of what one request looks through is within it.
  const step = 16 * 1024 * 1024;
  const steps = await search('the needle', { from: String(needle + 5 - step) });
  expect(steps).toEqual([
    { at: null, next: expect.any(Number) as number },
    { at: needle, next: null },
  ]);
  const stepsBack = await search('début', { from: String(3 + step), back: 'true' });
  expect(stepsBack).toEqual([
    { at: null, next: expect.any(Number) as number },
    { at: 0, next: null },
  ]);
});

test('a part that no longer exists is said in the download, and a search goes on after it', async () => {
  const before = await downloaded();
  const [first] = segmentsOf(logFile());
  rmSync(first?.path ?? '');
  const gone = first?.bytes ?? 0;
  const data = await downloaded();
  const note = `\r\n[${gone} bytes dropped by the limits of the log, which now begins at offset ${gone}]\r\n`;
  expect(data.subarray(0, note.length).toString('utf8')).toBe(note);
  expect(hashOf(data.subarray(note.length))).toBe(hashOf(before.subarray(gone)));
  expect((await search('the needle', { from: '0' })).at(-1)?.at).toBe(before.indexOf('the needle'));
  expect((await search('début', { from: String(before.length), back: 'true' })).at(-1)?.at).toBe(null);
});
