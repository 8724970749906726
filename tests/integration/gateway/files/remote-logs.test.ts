// The log of a session on another machine, as a file and searched, while its host comes and goes.
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { segmentsOf } from '../../../../exec/output/log-segments';
import { logEnd, readWhole } from '../../../../exec/output/log-reader';
import { sessionPaths } from '../../../../exec/session-paths';
import type { Gateway } from '../../../../gateway/gateway';
import { EngineOfItsOwn } from '../../../helpers/engines/engine-of-its-own';
import { ApiClient, gatewayTo, type Json } from '../../../helpers/gateway/gateway';
import { RemoteHost } from '../../../helpers/hosts/remote-host';
import { printing } from '../../../helpers/printed';
import { uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';
import { fileNeeds } from '../../../helpers/run/programs';

fileNeeds('openssl');

jest.setTimeout(180_000);

/** More than is under way between two programs of a machine: a download that is not read does not end. */
const LOG_BYTES = 30_000_000;
/** What a host sends at a time. */
const PIECE_BYTES = 256 * 1024;
const engine = new EngineOfItsOwn();
const agent = uniqueId('r');
const session = `/v1/sessions/${agent}/far/0`;
const PATIENT = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };
let far: RemoteHost;
let gateway: Gateway;
let operator: ApiClient;

beforeAll(async () => {
  await engine.start();
  far = new RemoteHost('far', engine.server().address);
  gateway = await gatewayTo(far, engine);
  operator = await ApiClient.of(gateway, 'operator');
  const code = `echo début; yes ${'x'.repeat(98)} | head -c ${LOG_BYTES}; echo the needle; yes y | head -c 3000000; echo end`;
  await operator.post(`${session}/exec`, { code, yield: PATIENT });
}, 180_000);
afterAll(async () => {
  await gateway.close();
  await far.end();
  expect(await engine.end()).toEqual([]);
}, 60_000);

const ask = (path: string): Promise<Response> =>
  fetch(`${gateway.url}${session}/log/${path}`, {
    headers: { Authorization: `Bearer ${operator.token ?? ''}` },
  });
const logFile = (): string => sessionPaths(far.dataDir, { agent, host: 'far', session: 0 }).log;
const wholeLog = (): Buffer => readWhole(logFile(), 0, logEnd(logFile()));
const hashOf = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
const downloaded = async (): Promise<Buffer> => Buffer.from(await (await ask('download')).arrayBuffer());

interface Step {
  at: number | null;
  next: number | null;
}

/** The last step of a search. */
async function search(text: string, from: number, back = false): Promise<Step> {
  let step: Step = { at: null, next: from };
  while (step.next !== null) {
    const asked = new URLSearchParams({ text, from: String(step.next), back: String(back) });
    step = await operator.get<Step & Record<string, unknown>>(`${session}/log/find?${asked.toString()}`);
  }
  return step;
}

interface Download {
  got: Uint8Array[];
  /** Reads to the end: rejects if the answer breaks off. */
  drain: () => Promise<void>;
}

async function begun(): Promise<Download> {
  const { body } = await ask('download');
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  if (!reader) throw new Error('no body');
  const got: Uint8Array[] = [];
  const read = async (): Promise<boolean> => {
    const { done, value } = await reader.read();
    if (value) got.push(value);
    return !done;
  };
  await read();
  return {
    got,
    drain: async () => {
      while (await read());
    },
  };
}

/** What came is a part of the log, with nothing behind it, and its client knows that it is not the whole. */
async function expectBrokenOff({ drain, got }: Download, log: Buffer): Promise<void> {
  await printing('a download broke off: Host far cannot be reached', () => expect(drain()).rejects.toThrow());
  const data = Buffer.concat(got);
  expect(data.length).toBeLessThan(log.length);
  expect(data.equals(log.subarray(0, data.length))).toBe(true);
}

test('the download of a log on another machine is the whole log, byte for byte', async () => {
  const [log, data] = [wholeLog(), await downloaded()];
  expect(log.length).toBeGreaterThan(LOG_BYTES);
  expect(data.length).toBe(log.length);
  expect(hashOf(data)).toBe(hashOf(log));
});

test('a text in it is found forwards and backwards, over the edges of what its host sends at a time', async () => {
  const log = wholeLog();
  const needle = log.indexOf('the needle');
  expect(await search('the needle', 0)).toEqual({ at: needle, next: null });
  expect(await search('the needle', log.length, true)).toEqual({ at: needle, next: null });
  expect(await search('début', log.length, true)).toEqual({ at: 0, next: null });
  expect(await search('not there', 0)).toEqual({ at: null, next: null });
  // An edge lies within the text.
  for (const within of [1, 5, 9]) {
    expect((await search('the needle', needle + within - PIECE_BYTES)).at).toBe(needle);
    expect((await search('the needle', needle + within + 3 * PIECE_BYTES, true)).at).toBe(needle);
  }
});

test('a download breaks off when the host is killed; a search says so, and goes on when it is back', async () => {
  const log = wholeLog();
  const download = await begun();
  let steps = 0;
  const find = `${session}/log/find?text=not-there`;
  // Always some of them are being looked through.
  const searches = Array.from({ length: 4 }, async () => {
    for (;;) {
      const answer = await operator.ask('GET', find);
      if (answer.status !== 200) return answer;
      steps += 1;
    }
  });
  await until(() => steps > searches.length);
  await far.kill();
  await expectBrokenOff(download, log);
  const away = { status: 503, body: { code: 'host_unreachable', retryable: true, facts: { host: 'far' } } };
  const ends = await Promise.all(searches);
  expect(ends).toEqual(ends.map(() => expect.objectContaining({ status: 503 }) as object));
  expect(ends.map(({ body }) => (body as Json).detail)).toContainEqual(
    expect.stringContaining('its connection was lost'),
  );
  for (const path of ['find?text=needle', 'download', '?from=0'])
    expect(await operator.ask('GET', `${session}/log/${path}`.replace('/?', '?'))).toMatchObject(away);
  await far.serve('--listen', '127.0.0.1:0');
  await until(async () => (await operator.ask('GET', `${session}/log/find?text=needle`)).status === 200);
  expect(hashOf(await downloaded())).toBe(hashOf(log));
});

test('a download breaks off when the host falls silent, and a search says so', async () => {
  const log = wholeLog();
  const download = await begun();
  far.fallSilent();
  try {
    const asked = operator.ask('GET', `${session}/log/find?text=needle`);
    await expectBrokenOff(download, log);
    expect(await asked).toMatchObject({ status: 503, body: { code: 'host_unreachable' } });
  } finally {
    far.goOn();
  }
  await until(async () => (await operator.ask('GET', `${session}/log/find?text=needle`)).status === 200);
  expect(hashOf(await downloaded())).toBe(hashOf(log));
});

test('a part of it that no longer exists is said in the download, and a search goes on after it', async () => {
  const before = wholeLog();
  const [first] = segmentsOf(logFile());
  rmSync(first?.path ?? '');
  const gone = first?.bytes ?? 0;
  const data = await downloaded();
  const note = `\r\n[${gone} bytes dropped by the limits of the log, which now begins at offset ${gone}]\r\n`;
  expect(data.subarray(0, note.length).toString('utf8')).toBe(note);
  expect(hashOf(data.subarray(note.length))).toBe(hashOf(before.subarray(gone)));
  expect((await search('the needle', 0)).at).toBe(before.indexOf('the needle'));
  expect((await search('début', before.length, true)).at).toBe(null);
});
