// MCP servers as they are: null for what is absent, PHP's lists for objects, lists without an end, results of kinds that
// nobody knows. The cases are our own, after public reports about other clients.
import { odd, testServers, type OddAnswers, type TestServers } from '../../helpers/services/mcp-servers';
import { until } from '../../helpers/until';

let running: TestServers | undefined;
afterEach(async () => {
  await running?.end();
  running = undefined;
});

async function connect(answers: OddAnswers): Promise<TestServers> {
  running = testServers(odd(answers, { toolMs: 10_000, startupMs: 15_000 }));
  await running.connected();
  return running;
}
const names = ({ registry }: TestServers): string[] =>
  registry.describe().flatMap(({ name }) => (name.startsWith('mcp__odd__') ? [name.slice(10)] : []));
const text = (said: string): { type: string; text: string } => ({ type: 'text', text: said });
const schema = { type: 'object', properties: {} };
const tools = [
  { name: 'echo', inputSchema: schema },
  { name: 'good', inputSchema: schema },
];
const whole = (rest: string): string => `{"jsonrpc":"2.0","id":$ID,${rest}}`;
const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: { tools: {} } };
const serverInfo = { name: 'odd', version: '1' };

describe('a server is connected, and its tool called,', () => {
  test.each<[string, OddAnswers]>([
    [
      'whose handshake says null',
      { initialize: { ...INITIALIZE, serverInfo, instructions: null, _meta: null } },
    ],
    ['without a name or a version', { initialize: { ...INITIALIZE, serverInfo: { name: null } } }],
    [
      'without a word about itself',
      { initialize: { ...INITIALIZE, serverInfo: null, protocolVersion: null } },
    ],
    [
      'whose capabilities are null, or PHP’s lists',
      { initialize: { ...INITIALIZE, serverInfo, capabilities: { tools: [], logging: [], prompts: null } } },
    ],
    [
      'whose capabilities have flags that are null',
      { initialize: { ...INITIALIZE, serverInfo, capabilities: { tools: { listChanged: null } } } },
    ],
    [
      'that does not say that it has tools',
      { initialize: { ...INITIALIZE, serverInfo, capabilities: null } },
    ],
    [
      // gensecaihq/Wazuh-MCP-Server#59
      'that sends each answer as a batch of one, with an error of null',
      {
        initialize: `[${whole(`"result":${JSON.stringify({ ...INITIALIZE, serverInfo })},"error":null`)}]`,
        'tools/list': `[${whole('"result":{"tools":[{"name":"echo","inputSchema":{}}]},"error":null')}]`,
      },
    ],
    [
      'that says another version of JSON-RPC',
      { 'tools/call': whole('"result":{"content":["hello"]}').replace('2.0', '1.0') },
    ],
    [
      'whose message has fields of its own',
      { 'tools/call': whole('"time":7,"result":{"content":["hello"]}') },
    ],
    ['whose ids are texts', { 'tools/call': '{"jsonrpc":"2.0","id":"$ID","result":{"content":["hello"]}}' }],
    [
      'whose answer has no id',
      { 'tools/call': '{"jsonrpc":"2.0","id":null,"result":{"content":["hello"]}}' },
    ],
    [
      'that writes a message over several lines',
      {
        'tools/call': JSON.stringify(
          { jsonrpc: '2.0', id: 0, result: { content: [text('hello')] } },
          null,
          2,
        ).replace('"id": 0', '"id": $ID'),
      },
    ],
    [
      'that marks the order of its bytes',
      { 'tools/call': `\uFEFF${whole('"result":{"content":["hello"]}')}` },
    ],
  ])('%s', async (_what, answers) => {
    const servers = await connect(answers);
    expect(names(servers)).toEqual(['echo']);
    expect(await servers.call('mcp__odd__echo')).toEqual({ ok: true, value: 'hello' });
  });
});

describe('all tools are offered of a list', () => {
  test.each<[string, OddAnswers]>([
    // gensecaihq/Wazuh-MCP-Server#75
    ['whose next page is null', { 'tools/list': { tools, nextCursor: null } }],
    ['whose next page is empty', { 'tools/list': { tools, nextCursor: '' } }],
    [
      'whose next page is a number',
      { 'tools/list': [{ tools: [tools[0]], nextCursor: 1 }, { tools: [tools[1]] }] },
    ],
    ['that is sent without its object', { 'tools/list': whole(`"result":${JSON.stringify(tools)}`) }],
    ['that PHP wrote as an object', { 'tools/list': { tools: { 1: tools[0], 3: tools[1] } } }],
    // r33drichards/mcp-js#117
    [
      'whose absent fields are null',
      {
        'tools/list': {
          tools: tools.map((tool) => ({
            ...tool,
            title: null,
            annotations: null,
            outputSchema: null,
            description: null,
            icons: null,
            execution: null,
            _meta: null,
          })),
        },
      },
    ],
    // cristianuibar/bricks-mcp#45
    [
      'whose empty objects are PHP’s lists',
      {
        'tools/list': {
          tools: tools.map((tool) => ({
            ...tool,
            inputSchema: { type: 'object', properties: [] },
            annotations: [],
            outputSchema: [],
          })),
        },
      },
    ],
    [
      'whose schemas are absent',
      { 'tools/list': { tools: [{ name: 'echo' }, { name: 'good', inputSchema: null }] } },
    ],
    [
      'whose schemas do not say their type',
      {
        'tools/list': {
          tools: tools.map(({ name }) => ({ name, inputSchema: { properties: { a: true } } })),
        },
      },
    ],
    [
      'whose hints are no truth values',
      {
        'tools/list': {
          tools: tools.map((tool) => ({
            ...tool,
            annotations: { readOnlyHint: null, destructiveHint: 'no' },
          })),
        },
      },
    ],
    [
      'whose results are lists',
      { 'tools/list': { tools: tools.map((tool) => ({ ...tool, outputSchema: { type: 'array' } })) } },
    ],
  ])('%s', async (_what, answers) => {
    const servers = await connect(answers);
    expect(names(servers)).toEqual(['echo', 'good']);
    expect(servers.registry.faults()).toEqual([]);
    expect(await servers.call('mcp__odd__good')).toEqual({ ok: true, value: 'hello' });
  });

  // DeusData/codebase-memory-mcp#1247
  test('whose pages name themselves, each once, and it is said that the list was ended', async () => {
    const servers = await connect({ 'tools/list': { tools, nextCursor: '0' } });
    expect(names(servers)).toEqual(['echo', 'good']);
    expect(servers.registry.faults()).toEqual([
      expect.stringMatching(/server odd was ended: its page "0" names itself/),
    ]);
  });
});

describe('what a tool has done is told', () => {
  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
  test.each<[string, object | string, string]>([
    // datalayer/jupyter-mcp-server#184
    [
      'with fields that are null',
      {
        content: [{ ...text('hello'), annotations: null, _meta: null }],
        isError: null,
        structuredContent: null,
        _meta: null,
      },
      'hello',
    ],
    [
      'with a part of an unknown type',
      { content: [text('hello'), { type: 'json', json: { a: 1 } }] },
      'hello\n{"type":"json","json":{"a":1}}',
    ],
    [
      'with an image as a URL',
      { content: [{ type: 'image', mimeType: 'image/png', data: `data:image/png;base64,${png}` }] },
      '[image, image/png, 68 bytes]',
    ],
    [
      'with bytes that are no base64',
      { content: [text('hello'), { type: 'audio', mimeType: 'audio/wav', data: '<none>' }] },
      'hello\n[audio, audio/wav, 3 bytes]',
    ],
    [
      'with a resource without its type',
      {
        content: [
          { type: 'resource', resource: { uri: 'x://1', mimeType: null, text: 'inside', blob: null } },
        ],
      },
      '[resource x://1]\ninside',
    ],
    [
      'with a resource that is none',
      { content: [{ type: 'resource', resource: null }] },
      '{"type":"resource","resource":null}',
    ],
    [
      'with a link without a name',
      { content: [{ type: 'resource_link', uri: 'x://1', name: null, size: null }] },
      '[link to x://1 at x://1]',
    ],
    ['with a text that is an object', { content: [{ type: 'text', text: { a: 1 } }] }, '{"a":1}'],
    ['with a text that is null', { content: [{ type: 'text', text: null }] }, ''],
    ['with a part that is null', { content: [null, text('hello')] }, 'hello'],
    ['without a list around its part', { content: text('hello') }, 'hello'],
    ['without parts', { content: null }, ''],
    ['as a text alone', '"result":"hello"', 'hello'],
    ['as nothing', '"result":null', ''],
    ['as a list of parts', '"result":[{"type":"text","text":"hello"}]', 'hello'],
    ['as the first revision of MCP had it', { toolResult: { a: 1 } }, '{"a":1}'],
    [
      'with a number that is none',
      '"result":{"content":["NaN"],"structuredContent":{"x":NaN,"y":[-Infinity,"NaN"]}}',
      'NaN\n{"x":null,"y":[null,"NaN"]}',
    ],
    // MoonshotAI/kimi-code#2554
    [
      'in its text and its structured content',
      { content: [text('returned 2 items')], structuredContent: { items: ['alpha', 'beta'] } },
      'returned 2 items\n{"items":["alpha","beta"]}',
    ],
  ])('%s', async (_what, result, told) => {
    const servers = await connect({ 'tools/call': typeof result === 'string' ? whole(result) : result });
    expect(await servers.call('mcp__odd__echo')).toEqual({ ok: true, value: told });
    expect(servers.warnings).toEqual([]);
  });

  // NousResearch/hermes-agent#101330
  test('with the structured content of a failure', async () => {
    const servers = await connect({
      'tools/call': {
        isError: true,
        content: [text('see structuredContent')],
        structuredContent: { line: 121, output: 'E0308' },
      },
    });
    const failed = await servers.call('mcp__odd__echo');
    expect(failed).toMatchObject({ ok: false, error: { code: 'mcp_tool_failed' } });
    expect(failed).toMatchObject({
      error: {
        message: expect.stringContaining('see structuredContent\n{"line":121,"output":"E0308"}') as string,
      },
    });
  });

  const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const declared = { 'tools/list': { tools: [{ ...tools[0], outputSchema }] } };

  // cristianuibar/bricks-mcp#45
  test('with the text of a tool that declares an object and gives none: it has run, and no second call is advised', async () => {
    const servers = await connect({ ...declared, 'tools/call': { content: [text('hello')] } });
    const given = await servers.call('mcp__odd__echo');
    expect(given).toMatchObject({ ok: false, error: { code: 'mcp_result_invalid', retryable: false } });
    expect(given).toMatchObject({
      error: { message: expect.stringMatching(/has run.*It said: hello/) as string },
    });
    expect(JSON.stringify(given)).not.toMatch(/may help|try again/);
  });

  test('to a model with its text beside its object', async () => {
    const servers = await connect({
      ...declared,
      'tools/call': { content: [text('found one')], structuredContent: { n: 1 } },
    });
    const call = { callId: 'c', tool: 'mcp__odd__echo', args: {} };
    const context = {
      agent: 'a',
      key: 'k',
      attempt: 1,
      settings: {},
      caller: null,
      host: null,
      signal: new AbortController().signal,
    };
    expect(await servers.registry.call(call, context as never, true)).toMatchObject({
      content: 'found one\n{"n":1}',
      value: { n: 1 },
      isError: false,
    });
  });
});

describe('a call ends at once, and not at its time-out, with an answer', () => {
  test.each<[string, string, string]>([
    ['whose error is a text', whole('"error":"no such user"'), 'no such user'],
    [
      'whose error has a text for a code',
      whole('"error":{"code":"E_USER","message":"no such user"}'),
      'no such user',
    ],
    [
      'whose error has no text',
      whole('"error":{"code":-32000,"message":null,"data":null}'),
      '{"code":-32000',
    ],
    [
      'whose error has no id',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}',
      'Parse error',
    ],
    ['of nothing', '{"jsonrpc":"2.0","id":$ID}', 'neither a result nor an error'],
    [
      'that breaks off',
      '{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"te',
      'its answer is not JSON',
    ],
  ])('%s', async (_what, answer, told) => {
    const servers = await connect({ 'tools/call': answer });
    const failed = await servers.call('mcp__odd__echo');
    expect(failed).toMatchObject({ ok: false, error: { code: 'mcp_tool_failed' } });
    expect(JSON.stringify(failed)).toContain(JSON.stringify(told).slice(1, -1));
  });
});

test('a change of the tools that is reported with params of null is heard', async () => {
  const report = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":null}';
  const servers = await connect({
    'tools/list': [{ tools: [tools[0]] }, { tools }],
    'tools/call': `${report}\n${whole('"result":{"content":["hello"]}')}`,
  });
  await servers.call('mcp__odd__echo');
  await until(() => names(servers).length === 2);
});
