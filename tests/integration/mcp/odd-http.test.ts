// Answers over HTTP as servers give them, by other names than MCP's: the call that one of them answers never stands still.
import { EVENTS, scriptedMcp, type Message, type ScriptedMcp } from '../../helpers/services/scripted-mcp';
import { testServers, type TestServers } from '../../helpers/services/mcp-servers';
import { until } from '../../helpers/until';

let server: ScriptedMcp;
let running: TestServers | undefined;
afterEach(async () => {
  await running?.end();
  await server.end();
});

type Answer = Parameters<typeof scriptedMcp>[0]['tools/call'];

async function connect(script: Parameters<typeof scriptedMcp>[0]): Promise<TestServers> {
  server = await scriptedMcp(script);
  running = testServers(server.settings({ toolMs: 15_000 }));
  await running.connected();
  return running;
}
const JSON_TYPE = { 'content-type': 'application/json' };
const said = {
  content: [{ type: 'text', text: 'done' }],
  structuredContent: null,
  isError: null,
  _meta: null,
};
const message = ({ id }: Message, more: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result: said, ...more });

test.each<[string, Answer]>([
  // gensecaihq/Wazuh-MCP-Server#59
  [
    'in a batch, with an error of null',
    (response, call) => void response.writeHead(200, JSON_TYPE).end(`[${message(call, { error: null })}]`),
  ],
  ['without a type', (response, call) => void response.writeHead(200).end(message(call))],
  [
    'as plain text',
    (response, call) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(message(call)),
  ],
  [
    'with a status that promises it for later',
    (response, call) => void response.writeHead(202, JSON_TYPE).end(message(call)),
  ],
  [
    'in an event of another name',
    (response, call) =>
      void response.writeHead(200, EVENTS).end(`event: response\ndata: ${message(call)}\n\n`),
  ],
  [
    'in an event of several lines',
    (response, call) => {
      const lines = JSON.stringify(JSON.parse(message(call)), null, 2).split('\n');
      response.writeHead(200, EVENTS).end(`${lines.map((line) => `data: ${line}`).join('\r\n')}\r\n\r\n`);
    },
  ],
  [
    'in an event that comes in pieces',
    (response, call) => {
      const bytes = Buffer.from(`id: 7\ndata: ${message(call)}\n\n`);
      response.writeHead(200, EVENTS);
      for (const byte of bytes) response.write(Buffer.of(byte));
      response.end();
    },
  ],
  [
    'without an id',
    (response, call) => void response.writeHead(200, JSON_TYPE).end(message(call, { id: null })),
  ],
])('an answer %s is the answer', async (_what, answer) => {
  const servers = await connect({ 'tools/call': answer });
  expect(await servers.call('mcp__web__run')).toEqual({ ok: true, value: 'done' });
  expect(servers.warnings).toEqual([]);
});

// strands-agents/harness-sdk#792
test.each<[string, Answer]>([
  [
    'as JSON',
    (response) =>
      void response
        .writeHead(200, JSON_TYPE)
        .end('{"jsonrpc":"2.0","error":{"code":-32603,"message":"no luck"}}'),
  ],
  [
    'in an event, with an id that was never given',
    (response) =>
      void response
        .writeHead(200, EVENTS)
        .end('data: {"jsonrpc":"2.0","error":{"code":"x","message":"no luck"},"id":null}\n\n'),
  ],
])('an error %s without the id of the call ends the call at once, with its words', async (_what, answer) => {
  const servers = await connect({ 'tools/call': answer });
  const failed = await servers.call('mcp__web__run');
  expect(failed).toMatchObject({ ok: false, error: { code: 'mcp_tool_failed' } });
  expect(JSON.stringify(failed)).toContain('no luck');
});

// cristianuibar/bricks-mcp#45
test('a ping that is answered with PHP’s empty list is answered: the session goes on', async () => {
  const servers = await connect({
    'tools/call': () => undefined,
    ping: (response, { id }) =>
      void response.writeHead(200, JSON_TYPE).end(`{"jsonrpc":"2.0","id":${id},"result":[]}`),
  });
  await servers.end();
  server.sent.length = 0;
  running = testServers(server.settings({ toolMs: 500 }));
  await running.connected();
  await running.call('mcp__web__run');
  await until(() => server.sent.includes('ping'));
  await running.call('mcp__web__run');
  expect(server.sent.filter((method) => method === 'initialize')).toHaveLength(1);
});
