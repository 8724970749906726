// MCP servers over HTTP that refuse, forget, fall silent or break off: which calls are lost by it, and which are not.
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
