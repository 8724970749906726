// The hub and its reader over a real socket.
import { createConnection } from 'node:net';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveTokens } from '../../../../activities/agents/live-tokens';
import { followTokens } from '../../../../client/agents/live-tokens';
import type { LiveToken, LiveTokensRecord } from '../../../../contracts/models/live-tokens';

let dataDir: string;
let hub: LiveTokens;
let ending: AbortController;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-tokens-'));
  hub = await LiveTokens.listen(dataDir);
  ending = new AbortController();
});
afterEach(() => {
  ending.abort();
  hub.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const CALL = { agent: 'a', turn: 'agent/a/turn/1' };
const records = (): LiveTokensRecord[] =>
  readdirSync(join(dataDir, 'live-tokens')).map(
    (name) => JSON.parse(readFileSync(join(dataDir, 'live-tokens', name), 'utf8')) as LiveTokensRecord,
  );

interface Watcher {
  told: AsyncGenerator<LiveToken, void, undefined>;
  /** Resolves at each connection to a hub. */
  connected(): Promise<void>;
}

function watcher(agent = 'a'): Watcher {
  let connections = 0;
  let wake = (): void => undefined;
  const onWatching = (): void => {
    connections += 1;
    wake();
  };
  const told = followTokens({ dataDir, agent, signal: ending.signal, onWatching });
  const first = told.next();
  const rest = async function* (): AsyncGenerator<LiveToken, void, undefined> {
    const { value, done } = await first;
    if (!done) yield value;
    yield* told;
  };
  let seen = 0;
  return {
    told: rest(),
    connected: async () => {
      seen += 1;
      while (connections < seen) await new Promise<void>((resolve) => (wake = resolve));
      // What was written is read by the hub before it is asked here.
      while (!(await hub.during({ ...CALL, agent }, async ({ onText }) => Boolean(onText))))
        await new Promise(setImmediate);
    },
  };
}

async function take({ told }: Watcher, count: number): Promise<string[]> {
  const taken: string[] = [];
  while (taken.length < count) {
    const { value, done } = await told.next();
    if (done) break;
    // The hub is asked whether it has a watcher by calls of its own, which end.
    if (value.kind === 'end' && taken.length === 0) continue;
    taken.push(value.kind === 'text' ? value.text : value.kind);
  }
  return taken;
}

test('a piece reaches the watchers of the agent and nobody else; without watchers, none is requested', async () => {
  expect(await hub.during(CALL, async ({ onText }) => onText)).toBeUndefined();
  const [mine, other] = [watcher('a'), watcher('b')];
  await Promise.all([mine.connected(), other.connected()]);
  await hub.during(CALL, async ({ onText }) => {
    for (const piece of ['one ', 'line\nand\u2028more ', 'ü']) onText?.(piece);
  });
  await hub.during({ agent: 'b', turn: 't' }, async ({ onText }) => onText?.('theirs'));
  expect(await take(mine, 4)).toEqual(['one ', 'line\nand\u2028more ', 'ü', 'end']);
  expect(await take(other, 2)).toEqual(['theirs', 'end']);
});

test('a call that fails takes back what was shown, and its late pieces are not shown', async () => {
  const mine = watcher();
  await mine.connected();
  let late: ((piece: string) => void) | undefined;
  const failing = hub.during(CALL, async ({ onText }) => {
    late = onText;
    onText?.('half');
    throw new Error('cut');
  });
  await expect(failing).rejects.toThrow('cut');
  late?.('late');
  await hub.during(CALL, async ({ onText }) => onText?.('whole'));
  expect(await take(mine, 4)).toEqual(['half', 'reset', 'whole', 'end']);
});

test('a watcher who joins in the middle of a reply gets what there is of it', async () => {
  const first = watcher();
  await first.connected();
  const second = watcher();
  await hub.during(CALL, async ({ onText }) => {
    onText?.('so far');
    expect(await take(second, 1)).toEqual(['so far']);
    onText?.(', and on');
  });
  expect(await take(second, 2)).toEqual([', and on', 'end']);
});

test('a hub that goes away takes back its current reply, and the next hub is found', async () => {
  const mine = watcher();
  await mine.connected();
  await hub.during(CALL, async ({ onText }) => {
    onText?.('half');
    expect(await take(mine, 1)).toEqual(['half']);
    hub.close();
  });
  expect(await take(mine, 1)).toEqual(['reset']);
  hub = await LiveTokens.listen(dataDir);
  await mine.connected();
  await hub.during(CALL, async ({ onText }) => onText?.('whole'));
  expect(await take(mine, 2)).toEqual(['whole', 'end']);
});

test('a watcher that reads nothing loses its connection, and the call continues', async () => {
  const [record] = records();
  const socket = createConnection(record?.socketPath ?? '');
  socket.pause();
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`${JSON.stringify({ token: record?.token, agent: 'a' })}\n`);
  while (!(await hub.during(CALL, async ({ onText }) => Boolean(onText)))) await new Promise(setImmediate);
  const piece = 'x'.repeat(100_000);
  await hub.during(CALL, async ({ onText }) => {
    for (let sent = 0; sent < 100; sent++) onText?.(piece);
  });
  socket.resume();
  await once(socket, 'close');
  expect(socket.bytesRead).toBeLessThan(50 * piece.length);
});

test('nobody watches without the token, and only this user reaches it', async () => {
  const [record] = records();
  for (const line of [JSON.stringify({ token: 'guessed', agent: 'a' }), 'no JSON', 'x'.repeat(5_000)]) {
    const socket = createConnection(record?.socketPath ?? '');
    socket.on('error', () => undefined);
    socket.write(line.length > 4_096 ? line : `${line}\n`);
    await once(socket.resume(), 'close');
  }
  const [file = ''] = readdirSync(join(dataDir, 'live-tokens'));
  expect(statSync(join(dataDir, 'live-tokens', file)).mode & 0o077).toBe(0);
  expect(statSync(join(dataDir, 'live-tokens')).mode & 0o077).toBe(0);
});

test('leftovers of a killed worker are cleared away, and a path too long for a socket gives none', async () => {
  hub.close();
  const old = dataDir;
  dataDir = join(old, 'deep'.repeat(30));
  mkdirSync(join(dataDir, 'live-tokens'), { recursive: true });
  const left = join(dataDir, 'live-tokens', 'left.json');
  writeFileSync(left, JSON.stringify({ pid: 2 ** 30, socketPath: join(old, 'none.sock'), token: 'x' }));
  hub = await LiveTokens.listen(dataDir);
  expect(records().map(({ pid }) => pid)).toEqual([process.pid]);
  const mine = watcher();
  await mine.connected();
  await hub.during(CALL, async ({ onText }) => onText?.('here'));
  expect(await take(mine, 2)).toEqual(['here', 'end']);
  dataDir = old;
});
