// MCP servers over HTTP that refuse, forget, fall silent or break off: which calls are lost by it, and which are not.
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { testServers, type TestServers } from '../../helpers/services/mcp-servers';
import {
  EVENTS,
  reply,
  say,
  scriptedMcp,
  type Script,
  type ScriptedMcp,
} from '../../helpers/services/scripted-mcp';
import type { McpServerSettings } from '../../../tools/mcp/mcp-settings';
import { until } from '../../helpers/until';

let server: ScriptedMcp;
let running: TestServers | undefined;
afterEach(async () => {
  await running?.end();
  running = undefined;
  await server.end();
});

async function connect(script: Script, more?: Partial<McpServerSettings>): Promise<TestServers> {
  server = await scriptedMcp(script);
  running = testServers(server.settings(more));
  await running.connected();
  return running;
}
const run = (servers: TestServers, n = 1, signal?: AbortSignal): ReturnType<TestServers['call']> =>
  servers.call('mcp__web__run', { n }, signal);

test('a call that is refused by a rate limit leaves the other calls running', async () => {
  const servers = await connect({
    'tools/call': (response, message) =>
      message.params?.arguments?.n === 1
        ? setTimeout(() => say(response, message, 'done'), 1_000)
        : response.writeHead(429).end('slow down'),
    ping: (response) => response.writeHead(429).end('slow down'),
  });
  const long = run(servers, 1);
  await until(() => server.sent.includes('tools/call'));
  expect(JSON.stringify(await run(servers, 2))).toContain('slow down');
  expect(await long).toEqual({ ok: true, value: 'done' });
  expect(server.sent.filter((method) => method === 'initialize')).toHaveLength(1);
});

test('a server that is busy with a call is kept when its stream of notifications breaks off', async () => {
  let free = Promise.resolve();
  const servers = await connect({
    'tools/call': (response, message) => {
      free = delay(7_000);
      void free.then(() => say(response, message, 'done'));
    },
    // It does one thing at a time.
    ping: (response, { id }) => void free.then(() => reply(response, id, {})),
    GET: (response) => {
      response.writeHead(200, EVENTS).flushHeaders();
      void until(() => server.sent.includes('tools/call')).then(() => response.destroy());
    },
  });
  expect(await run(servers)).toEqual({ ok: true, value: 'done' });
  expect(server.sent).toContain('ping');
}, 30_000);

test('calls that a restarted server refuses together are each run once, on a new session', async () => {
  const ran: unknown[] = [];
  const servers = await connect({
    'tools/call': (response, message) => {
      const n = message.params?.arguments?.n;
      ran.push(n);
      say(response, message, `done ${String(n)}`);
    },
  });
  server.forgetSessions();
  const all = [1, 2, 3, 4, 5];
  expect(await Promise.all(all.map((n) => run(servers, n)))).toEqual(
    all.map((n) => ({ ok: true, value: `done ${n}` })),
  );
  expect(ran.sort()).toEqual(all);
});

test.each([
  ['ends', (response: ServerResponse): unknown => response.end(), 'ended without one'],
  ['breaks off', (response: ServerResponse): unknown => response.destroy(), 'broke off'],
])('a call whose answer %s before it has come is lost at once, and told so', async (_what, cut, reason) => {
  const servers = await connect({
    'tools/call': (response) => {
      response.writeHead(200, EVENTS).write(': it is under way\n\n');
      setTimeout(() => cut(response), 200);
    },
  });
  const began = Date.now();
  const lost = await run(servers);
  expect(lost).toMatchObject({ ok: false, error: { code: 'unknown_outcome' } });
  expect(JSON.stringify(lost)).toContain(reason);
  expect(Date.now() - began).toBeLessThan(10_000);
});

test('an answer in a stream that ends with it is never taken for lost', async () => {
  const servers = await connect({
    'tools/call': (response, { id }) => {
      const message = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } };
      response.writeHead(200, EVENTS).end(`data: ${JSON.stringify(message)}\n\n`);
    },
  });
  for (let n = 0; n < 50; n++) expect(await run(servers, n)).toEqual({ ok: true, value: 'done' });
  expect(servers.warnings).toEqual([]);
});

test('a stream that its server leaves open after the answer is closed', async () => {
  let isClosed = false;
  const servers = await connect({
    'tools/call': (response, { id }) => {
      const message = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } };
      response.writeHead(200, EVENTS).write(`data: ${JSON.stringify(message)}\n\n`);
      response.once('close', () => (isClosed = true));
    },
  });
  expect(await run(servers)).toEqual({ ok: true, value: 'done' });
  await until(() => isClosed);
  expect(servers.warnings).toEqual([]);
});

test.each(['before its answer begins', 'in the middle of its answer'])(
  'a call that is stopped %s is no longer read, and is no fault of the server',
  async (when) => {
    const closed: string[] = [];
    const servers = await connect({
      'tools/call': (response) => {
        if (when.startsWith('in')) response.writeHead(200, EVENTS).write(': it is under way\n\n');
        response.once('close', () => closed.push('call'));
      },
    });
    const stop = new AbortController();
    const call = run(servers, 1, stop.signal);
    await until(() => server.sent.includes('tools/call'));
    await delay(200);
    stop.abort(new Error('the turn was stopped'));
    await expect(call).rejects.toThrow('the turn was stopped');
    await until(() => closed.length === 1 && server.sent.includes('notifications/cancelled'));
    expect(servers.warnings).toEqual([]);
    expect(server.sent).not.toContain('ping');
  },
);

test('calls have no time limit of Node’s beside their own', async () => {
  const key = Symbol.for('undici.globalDispatcher.1');
  type Dispatched = { origin: string | URL; headersTimeout?: number; bodyTimeout?: number };
  type Dispatcher = { dispatch(options: Dispatched): boolean };
  const slots = globalThis as unknown as Record<symbol, Dispatcher | undefined>;
  const servers = await connect({ 'tools/call': (response, message) => say(response, message, 'done') });
  const [usual, send] = [slots[key], globalThis.fetch];
  const limits: unknown[] = [];
  slots[key] = {
    dispatch: ({ headersTimeout, bodyTimeout }) => limits.push([headersTimeout, bodyTimeout]) > 0,
  };
  globalThis.fetch = (url, init) => {
    const { dispatcher, ...rest } = init as RequestInit & { dispatcher?: Dispatcher };
    dispatcher?.dispatch({ origin: new URL(url instanceof Request ? url.url : url).origin });
    return send(url, rest);
  };
  try {
    expect(await run(servers)).toMatchObject({ ok: true });
    expect(limits).toEqual([[0, 0]]);
  } finally {
    slots[key] = usual;
    globalThis.fetch = send;
  }
});

test.each([
  ['JSON', { 'content-type': 'application/json' }, ''],
  ['events', EVENTS, 'data: '],
  ['events with ids', EVENTS, 'id: 1\ndata: \n\ndata: '],
])(
  'an answer of %s without an end is cut off at 64 MiB, and is a failure of the tool',
  async (_what, headers, begin) => {
    const servers = await connect({
      'tools/call': (response) => {
        response.writeHead(200, headers).write(`${begin}{"x":"`);
        endless(response);
      },
    });
    const failed = await run(servers);
    expect(failed).toMatchObject({ ok: false, error: { code: 'mcp_tool_failed' } });
    expect(JSON.stringify(failed)).toContain('its answer is invalid: got more than 64 MiB, allowed 64 MiB');
  },
  30_000,
);

test('a stream of many events may be longer than one message', async () => {
  const event = `: ${'x'.repeat(8 * 1024 * 1024)}\n\n`;
  const servers = await connect({
    'tools/call': (response, { id }) => {
      const message = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } };
      response.writeHead(200, EVENTS);
      for (let n = 0; n < 10; n++) response.write(event);
      response.end(`data: ${JSON.stringify(message)}\n\n`);
    },
  });
  expect(await run(servers)).toEqual({ ok: true, value: 'done' });
}, 30_000);

/** Far more than is read: a server that went on for ever would fill this process in case of a fault. */
function endless(response: ServerResponse, left = 200): void {
  if (left > 0 && !response.destroyed)
    response.write('x'.repeat(1024 * 1024), () => endless(response, left - 1));
}

test('a server that does not answer that it was initialized is given up in time, and ends', async () => {
  server = await scriptedMcp({ 'notifications/initialized': () => undefined });
  running = testServers(server.settings({ startupMs: 500 }));
  const { servers } = running;
  await until(() => servers.status()[0]?.fault === 'it was not ready within 500 ms');
  await servers.close();
});

test('a server that asks without end is cut off, and costs the worker no more than 32 connections', async () => {
  const open = new Set<ServerResponse>();
  const flood = Array.from({ length: 500 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
  let isFlooded = false;
  const servers = await connect({
    GET: (response) => {
      response.writeHead(200, EVENTS).flushHeaders();
      if (!isFlooded) response.write(flood.map((ping) => `data: ${JSON.stringify(ping)}\n\n`).join(''));
      isFlooded = true;
    },
    answer: (response) => {
      open.add(response);
      response.once('close', () => open.delete(response));
    },
    'tools/call': (response, message) => say(response, message, 'done'),
  });
  await until(() =>
    servers.warnings.some((line) => line.includes('it asks faster than it takes the answers')),
  );
  await until(() => open.size === 0);
  expect(await run(servers)).toEqual({ ok: true, value: 'done' });
  expect(server.sent.filter((method) => method === 'answer').length).toBeLessThanOrEqual(32);
  expect(servers.warnings).toHaveLength(1);
});

test('a server that reports a change with each list is listed again after a pause, and what has not changed is not told', async () => {
  let changed = (): unknown => undefined;
  const at: number[] = [];
  const message = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };
  const servers = await connect({
    GET: (response) => {
      response.writeHead(200, EVENTS).flushHeaders();
      changed = () => response.write(`data: ${JSON.stringify(message)}\n\n`);
      changed();
    },
    'tools/list': (response, { id }) => {
      at.push(Date.now());
      reply(response, id, { tools: [{ name: 'run', inputSchema: { type: 'object' } }] });
      changed();
    },
  });
  const onChange = jest.fn();
  servers.servers.onChange(onChange);
  await until(() => at.length > 3);
  // The first change is looked at once; clocks and timers differ by a few milliseconds.
  const pauses = at.slice(2).map((time, n) => time - (at[n + 1] ?? 0));
  expect(pauses[0]).toBeGreaterThan(950);
  expect(pauses[1]).toBeGreaterThan(1_950);
  expect(onChange).not.toHaveBeenCalled();
});
