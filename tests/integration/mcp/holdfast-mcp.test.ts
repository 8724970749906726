// `holdfast mcp`, driven by the official client as any MCP client drives it.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import { sessionEnvironment } from '../../../exec/host/session-environment';
import { EngineOfItsOwn, processesNaming } from '../../helpers/engines/engine-of-its-own';
import { call as toolCall, scratch, uniqueId, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn({ ownServer: true });
const client = new Client({ name: 'test', version: '0.0.0' });
const errors: unknown[] = [];
let files: Scratch;

beforeAll(async () => {
  files = scratch();
  engine.configure('[policy.agents]\nasked = "ask"\n');
  client.onerror = (err) => errors.push(err);
  // No server runs yet: the first call starts one.
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(packageRoot(), 'bin', 'holdfast.js'), 'mcp', '--data', engine.dataDir],
      env: sessionEnvironment(process.env),
      stderr: 'ignore',
    }),
  );
}, 60_000);
afterAll(async () => {
  await client.close();
  // The SDK has ended it, and does not wait.
  await until(() => processesNaming(`mcp --data ${engine.dataDir}`).length === 0);
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
  // Anything but the protocol on standard output would be one.
  expect(errors).toEqual([]);
}, 60_000);

interface Result {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent: Record<string, unknown>;
}
const call = async (name: string, args: Record<string, unknown> = {}, options = {}): Promise<Result> =>
  (await client.callTool({ name, arguments: args }, undefined, {
    timeout: 60_000,
    ...options,
  })) as unknown as Result;

test('exec answers while an approval waits, says for what, and gives the result under its id once it is approved', async () => {
  const command = { agent: 'asked', code: 'echo allowed' };
  const { content, structuredContent } = await call('exec', command);
  expect(structuredContent).toMatchObject({
    state: 'waiting_approval',
    agent: 'asked',
    what: 'terminal: echo allowed',
  });
  const id = String(structuredContent.id);
  expect(content[0]?.text).toContain(`holdfast approve ${id} --agent asked --session 0`);
  expect((await engine.cliInTurn(['approve', id, '--agent', 'asked', '--session', '0'])).code).toBe(0);
  const done = await call('exec', { ...command, id });
  expect(done.structuredContent).toMatchObject({ state: 'exited', exitCode: 0, output: 'allowed\n' });
}, 60_000);

test('the tools are listed with schemas and hints', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(
    'agent_diff agent_result agent_state agent_steps exec input list output reset rewind_agent send start_agent stop_agent wait'.split(
      ' ',
    ),
  );
  expect(tools.find(({ name }) => name === 'exec')).toMatchObject({
    inputSchema: { type: 'object', required: ['code'], properties: { agent: { default: 'mcp' } } },
    annotations: { readOnlyHint: false },
  });
});

/** The paths of all properties without a description. */
function undescribed(schema: object, path: string): string[] {
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, { description?: string }>;
    items?: object;
    anyOf?: object[];
  };
  const own = Object.entries(properties).flatMap(([name, property]) => [
    ...(property.description ? [] : [`${path}.${name}`]),
    ...undescribed(property, `${path}.${name}`),
  ]);
  return [...own, ...[...(items ? [items] : []), ...anyOf].flatMap((one) => undescribed(one, path))];
}

test('each argument of each tool says what it means', async () => {
  const { tools } = await client.listTools();
  expect(tools.flatMap(({ name, inputSchema }) => undescribed(inputSchema, name))).toEqual([]);
});

test('commands and agents work in the folder where the client was started, each folder in a session of its own', async () => {
  expect((await call('exec', { code: 'pwd' })).structuredContent.output).toBe(`${process.cwd()}\n`);
  const there = await call('exec', { code: 'pwd', cwd: files.directory });
  expect(there.structuredContent).toMatchObject({ session: 1, output: `${files.directory}\n` });
  expect((await call('exec', { code: 'pwd' })).structuredContent.session).toBe(0);
  const refused = await call('exec', { code: 'pwd', session: 0, cwd: files.directory });
  expect(refused.structuredContent.error).toMatchObject({ code: 'invalid_input', effect: 'none' });
  const agent = uniqueId('agent');
  const { model } = files.settings([{ text: 'seen' }]);
  await call('start_agent', { agent, task: 'look', model });
  const { structuredContent } = await call('agent_state', { agent });
  expect(structuredContent).toMatchObject({ settings: { cwd: process.cwd() } });
  expect((await call('agent_result', { agent })).structuredContent).toMatchObject({ answer: 'seen' });
});

test('an error says what to do with the tools that the client has', async () => {
  const { content } = await call('output', { session: 77 });
  expect(content[0]?.text).toContain('Call the tool "list"');
  expect(content[0]?.text).not.toContain('holdfast ps');
});

test('a real command runs, and its output and exit code are text and structure', async () => {
  const { content, structuredContent } = await call('exec', { code: 'echo hello; (exit 3)', session: 1 });
  expect(content[0]?.text).toMatch(/^hello\n\[exited, exit code 3/);
  expect(structuredContent).toMatchObject({ state: 'exited', exitCode: 3, output: 'hello\n', session: 1 });
}, 60_000);

test('a command that waits for input is answered, waited for and reset', async () => {
  const asked = await call('exec', { code: 'read -r a; echo "got $a"; sleep 1000', session: 2 });
  expect(asked.structuredContent).toMatchObject({ state: 'waiting_input' });
  await call('input', { keyboard: 'yes', session: 2, yield: { betweenOutputMs: 100 } });
  const seen = await call('wait', { sessions: [{ session: 2, from: 0 }], for: 'pattern:got yes' });
  expect(seen.structuredContent).toMatchObject({ met: true });
  const listed = await call('list');
  expect(JSON.stringify(listed.structuredContent.work)).toContain('exec/mcp/local/2');
  expect((await call('reset', { session: 2 })).structuredContent).toMatchObject({
    killedBy: { by: 'reset' },
  });
}, 60_000);

test('a command reports its progress, which keeps a client with a short timeout waiting', async () => {
  const seen: number[] = [];
  const { structuredContent } = await call(
    'exec',
    { code: 'sleep 12; echo late', session: 3 },
    {
      // It is reported every two seconds, by a busy machine a few later.
      timeout: 9_000,
      resetTimeoutOnProgress: true,
      onprogress: ({ progress }: { progress: number }) => seen.push(progress),
    },
  );
  expect(structuredContent).toMatchObject({ exitCode: 0, output: 'late\n' });
  expect(seen.length).toBeGreaterThanOrEqual(2);
}, 60_000);

test('code for a host that nobody knows is refused, and opens no session that would wait for it', async () => {
  const refused = await call('exec', { code: 'true', host: 'nobody', session: 9 });
  expect(refused).toMatchObject({ isError: true });
  expect(refused.content[0]?.text).toContain('unknown_host');
  expect(JSON.stringify((await call('list')).structuredContent.work)).not.toContain('nobody');
}, 60_000);

test('a cancelled call leaves the command running', async () => {
  await call('exec', { code: 'true', session: 4 });
  const stop = new AbortController();
  const go = join(files.directory, 'go');
  const cancelled = call(
    'exec',
    { code: `until [ -e ${go} ]; do sleep 0.1; done; read -r line; echo "read $line"`, session: 4 },
    { signal: stop.signal },
  );
  // It is the end of the command before that would be seen otherwise.
  await until(async () => (await call('output', { session: 4 })).structuredContent.state !== 'exited');
  stop.abort('enough');
  await expect(cancelled).rejects.toThrow();
  writeFileSync(go, '');
  await call('output', { session: 4, wait: 'needs_input' });
  const answered = await call('input', { session: 4, keyboard: 'on' });
  expect(answered.structuredContent.output).toContain('read on');
}, 60_000);

test.each([
  ['exec', { session: 1 }, 'invalid_input', '"/code"'],
  ['exec', { code: 'x', agent: 'No Id' }, 'invalid_input', '"agent"'],
  ['exec', { code: 'x', unknown: 1 }, 'invalid_input', 'unknown'],
  ['input', { session: 77, keyboard: 'x' }, 'not_found', 'exec/mcp/local/77'],
  ['agent_state', { agent: 'nobody' }, 'not_found', 'agent/nobody'],
  ['no_such_tool', {}, 'unknown_tool', 'exec'],
])('%s with %j is an error result with code %s and the next step', async (name, args, code, names) => {
  const { isError, content, structuredContent } = await call(name, args);
  expect(isError).toBe(true);
  expect(content[0]?.text).toMatch(new RegExp(`^${code}: .* Next: .`, 's'));
  expect(content[0]?.text).toContain(names);
  expect(structuredContent.error).toMatchObject({ code, retryable: false });
});

test('typed text is not repeated in an error', async () => {
  const { content } = await call('input', { session: 1, keyboard: 'hunter2', wrong: true });
  expect(content[0]?.text).toContain('invalid_input');
  expect(content[0]?.text).not.toContain('hunter2');
});

test('an agent is started on a task, its answer is awaited, a conversation continues until it is stopped', async () => {
  const model = files.model([
    { text: toolCall('code_execution_tool', { runtime: 'terminal', code: 'echo from the agent' }) },
    { text: 'the answer' },
  ]);
  const { structuredContent } = await call('start_agent', { task: 'look', model });
  const { agent } = structuredContent as { agent: string };
  expect((await call('agent_result', { agent })).structuredContent).toMatchObject({
    done: true,
    answer: 'the answer',
    reason: 'answered',
  });
  const talk = uniqueId('talk');
  await call('start_agent', {
    agent: talk,
    mode: 'conversation',
    model: files.model([{ text: 'hello to you' }]),
  });
  expect((await call('send', { agent: talk, message: 'hello' })).content[0]?.text).toBe('hello to you');
  expect((await call('agent_result', { agent: talk, waitMs: 0 })).structuredContent).toMatchObject({
    done: false,
  });
  await call('stop_agent', { agent: talk, reason: 'done' });
  await call('agent_result', { agent: talk });
  expect((await call('agent_state', { agent: talk })).structuredContent).toMatchObject({ status: 'ended' });
}, 60_000);
