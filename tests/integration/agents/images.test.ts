// What an agent sees: real workers and shells, and a simulated provider that records what it is sent.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '../../../contracts/agents/agent';
import { agentWorkflowId, turnWorkflowId } from '../../../contracts/ids';
import type { ImageRef } from '../../../contracts/tools/images';
import { packageRoot } from '../../../system/package-root';
import type { Gateway } from '../../../gateway/gateway';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { ApiClient, gatewayOn } from '../../helpers/gateway/gateway';
import { png } from '../../helpers/tools/images';
import { ModelSimulator, PLANTED_KEY } from '../../helpers/services/model-simulator';
import { call, scratch, uniqueId, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
let simulator: ModelSimulator;
let files: Scratch;
let gateway: Gateway;
/** Of about 1 MB. */
const SHOT = png(1_000, 1_000);
const IN_BASE64 = SHOT.toString('base64');
const EVERYTHING = join(packageRoot(), 'node_modules', '.bin', 'mcp-server-everything');

beforeAll(async () => {
  simulator = await ModelSimulator.start();
  files = scratch();
  writeFileSync(join(files.directory, 'shot.png'), SHOT);
  writeFileSync(join(files.directory, 'drawing.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  const { url } = simulator;
  const provider = (name: string, wireApi: string, address: string): string =>
    `[model_providers.${name}]\nbase_url = "${address}"\nwire_api = "${wireApi}"\nenv_key = "SIMULATOR_KEY"\n`;
  engine.configure(
    provider('chat', 'chat', `${url}/v1`) +
      provider('messages', 'anthropic', url) +
      '[models."messages:blind"]\nimages = false\n' +
      `[mcp_servers.all]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(EVERYTHING)}]\n`,
  );
  await engine.startServer();
  await engine.startWorker({ env: { SIMULATOR_KEY: PLANTED_KEY } });
  await engine.start();
  gateway = await gatewayOn(engine);
}, 60_000);
afterAll(async () => {
  await gateway.close();
  const left = await engine.end();
  await simulator.stop();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

const VIEW = { id: 'call_1', name: 'view_image', arguments: '{"path":"shot.png"}' };

/** The provider calls a tool for the task, then answers. */
function scripted(task: string, toolCall: { id: string; name: string; arguments: string } = VIEW): void {
  const isOf = (count: number) => (request: { messages: { role: string; content?: unknown }[] }) =>
    JSON.stringify(request.messages).includes(task) &&
    request.messages.filter(({ role }) => role === 'assistant').length === count;
  simulator.mock.on({ predicate: isOf(0) }, { content: '', toolCalls: [toolCall] });
  simulator.mock.on({ predicate: isOf(1) }, { content: 'I see it.' });
  simulator.mock.on({ predicate: isOf(2) }, { content: 'I still see it.' });
}

async function run(model: string, toolCall?: typeof VIEW, more: object = {}): Promise<string> {
  const task = uniqueId('look');
  scripted(task, toolCall);
  const agent = engine.client.agent(task);
  await agent.start({ task, model, cwd: files.directory, ...more });
  expect(await agent.result()).toMatchObject({ reason: 'answered', answer: 'I see it.' });
  return task;
}

const bodies = (task: string): string[] =>
  simulator.requests.map(({ body }) => JSON.stringify(body)).filter((body) => body.includes(task));

async function resultIn(agent: string): Promise<Extract<Message, { role: 'tool' }>> {
  const { messages } = await engine.client.agent(agent).transcript();
  const found = messages.find(({ role }) => role === 'tool');
  if (found?.role !== 'tool') throw new Error('no result');
  return found;
}
const imageOf = async (agent: string): Promise<ImageRef> => {
  const [image] = (await resultIn(agent)).images ?? [];
  if (!image) throw new Error('no image');
  return image;
};
const stored = (agent: string, { sha256 }: ImageRef): string =>
  join(engine.dataDir, 'blobs', agent, 'images', sha256);

test.each(['messages', 'chat'])(
  'an image file of 1 MB reaches the model over %s, and leaves less than 20 kB in history',
  async (provider) => {
    const task = await run(`${provider}:small`);
    const [first, second] = bodies(task);
    expect(first).toContain('view_image');
    expect(second).toContain(IN_BASE64);
    expect(await resultIn(task)).toMatchObject({
      content: `The image shot.png: png, 1000x1000, 1.0 MB.`,
      images: [{ mime: 'image/png', bytes: SHOT.length, width: 1_000, height: 1_000 }],
    });
    for (const workflowId of [agentWorkflowId(task), turnWorkflowId(task, 1)]) {
      const { historySize = Infinity } = await engine.client.temporal.workflow
        .getHandle(workflowId)
        .describe();
      expect(historySize).toBeLessThan(20_000);
    }
  },
  60_000,
);

test('a model that cannot see is not told of view_image; if it calls it all the same, it is told so in words', async () => {
  const task = await run('messages:blind');
  const [first, second] = bodies(task);
  expect(first).not.toContain('"name":"view_image"');
  expect(second).toContain('[image: png, 1000x1000, 1.0 MB; this model cannot see images]');
  expect(second).not.toContain(IN_BASE64);
});

test('in a dialect of text a result with an image is text', async () => {
  const id = uniqueId('text');
  const expected = 'image shot.png: png, 1000x1000, 1.0 MB.\\n\\[image: .*; this model cannot see images\\]';
  const replies = [{ text: call('view_image', { path: 'shot.png' }) }, { text: 'done', expect: expected }];
  const agent = engine.client.agent(id);
  await agent.start({ task: 'x', ...files.settings(replies) });
  expect(await agent.result()).toMatchObject({ answer: 'done' });
});

test('what is no image is refused with the reason, and the model can go on', async () => {
  const task = await run('messages:small', { ...VIEW, arguments: '{"path":"drawing.svg"}' });
  const { content, isError, images } = await resultIn(task);
  expect({ isError, images }).toEqual({ isError: true, images: undefined });
  expect(content).toMatch(/^Error image_refused: .*got drawing\.svg, which is none of these.*Convert it/s);
});

test('a provider that refuses the request for its image is asked again without it', async () => {
  const body =
    '{"type":"error","error":{"type":"invalid_request_error","message":"Could not process image"}}';
  simulator.answers.push({ status: 400, body, to: IN_BASE64.slice(0, 5_000) });
  const task = await run('messages:small');
  const [, refused, again] = bodies(task);
  expect(refused).toContain(IN_BASE64);
  expect(again).not.toContain(IN_BASE64);
  expect(again).toContain('the provider refused it: Could not process image.');
});

test('the image of an MCP server reaches the model', async () => {
  const tool = 'mcp__all__get-tiny-image';
  const task = await run('messages:small', { id: 'call_1', name: tool, arguments: '{}' });
  const image = await imageOf(task);
  const second = bodies(task)[1] ?? '';
  expect(image.mime).toBe('image/png');
  expect(second).toMatch(
    /"type":"image","source":\{"type":"base64","media_type":"image\/png","data":"iVBORw0KGgo/,
  );
  expect((await resultIn(task)).content).toContain('[image 1]');
});

test('a script that views an image gets facts about it, and no model is shown one', async () => {
  const id = uniqueId('script');
  const code = "from codex_tools import view_image\nprint(sorted(view_image(path='shot.png').items()))";
  const expected =
    "\\('bytes', \\d+\\), \\('height', 1000\\), \\('mime', 'image/png'\\), \\('path', 'shot.png'\\)";
  const replies = [
    { text: call('code_execution_tool', { runtime: 'python', code }) },
    { text: 'done', expect: expected },
  ];
  const agent = engine.client.agent(id);
  await agent.start({ task: 'x', ...files.settings(replies) });
  expect(await agent.result()).toMatchObject({ answer: 'done' });
  expect((await resultIn(id)).images).toBeUndefined();
});

test('a worker that is killed while the model looks at an image loses nothing: the next one shows it again', async () => {
  const task = uniqueId('killed');
  scripted(task);
  simulator.answers.push({ status: 200, body: '', hangs: true, to: IN_BASE64.slice(0, 5_000) });
  const agent = engine.client.agent(task);
  await agent.start({ task, model: 'messages:small', cwd: files.directory });
  await until(() => bodies(task).length === 2);
  await engine.killWorker();
  await engine.startWorker({ env: { SIMULATOR_KEY: PLANTED_KEY } });
  expect(await agent.result()).toMatchObject({ answer: 'I see it.' });
  expect(
    bodies(task)
      .slice(1)
      .map((body) => body.includes(IN_BASE64)),
  ).toEqual([true, true]);
}, 90_000);

describe('an image of a conversation', () => {
  let id: string;
  let image: ImageRef;
  beforeAll(async () => {
    id = uniqueId('keeps');
    scripted(id);
    const agent = engine.client.agent(id);
    await agent.start({ mode: 'conversation', model: 'messages:small', cwd: files.directory });
    await agent.send(id);
    image = await imageOf(id);
  });
  afterAll(() => engine.client.agent(id).stop());

  test('is served to those who may read the agent, as an image that runs nothing', async () => {
    const path = `/v1/agents/${id}/images/${image.sha256}`;
    const viewer = await ApiClient.of(gateway, 'viewer');
    const headers = { Authorization: `Bearer ${viewer.token}` };
    const answer = await fetch(gateway.url + path, { headers });
    expect(Buffer.from(await answer.arrayBuffer()).equals(SHOT)).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cache-control': 'private, no-cache',
    });
    const again = await fetch(gateway.url + path, {
      headers: { ...headers, 'If-None-Match': answer.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
    const other = await ApiClient.of(gateway, 'viewer', ['another']);
    expect((await other.ask('GET', path)).status).toBe(403);
    expect((await fetch(gateway.url + path)).status).toBe(401);
  });

  test('is not served for another agent, whose conversation does not name it', async () => {
    const viewer = await ApiClient.of(gateway, 'viewer');
    const other = uniqueId('other');
    await engine.client.agent(other).start({ mode: 'conversation', model: 'messages:small' });
    for (const path of [`${other}/images/${image.sha256}`, `${id}/images/${'0'.repeat(64)}`])
      expect((await viewer.ask('GET', `/v1/agents/${path}`)).status).toBe(404);
    expect((await viewer.ask('GET', `/v1/agents/${id}/images/..%2Fsecret`)).status).toBe(400);
    await engine.client.agent(other).stop();
  });

  test('is kept for a fork, too, whatever becomes of the first agent', async () => {
    const fork = await engine.client.agent(id).fork(uniqueId('fork'));
    await until(async () => (await fork.ownState()).messages > 0);
    expect(existsSync(stored(fork.id, image))).toBe(true);
    await fork.stop();
  });

  test('is told in words once it is gone, and the conversation continues', async () => {
    const agents = join(engine.dataDir, 'blobs');
    for (const agent of readdirSync(agents))
      rmSync(join(agents, agent, 'images'), { recursive: true, force: true });
    // What it has in memory.
    await engine.killWorker();
    await engine.startWorker({ env: { SIMULATOR_KEY: PLANTED_KEY } });
    const { answer } = await engine.client.agent(id).send('and now?');
    expect(answer).toBe('I still see it.');
    const last = bodies(id).at(-1) ?? '';
    expect(last).toContain(
      '[image: png, 1000x1000, 1.0 MB; it is not available: it no longer exists, or has changed]',
    );
    expect(last).not.toContain(IN_BASE64);
  }, 60_000);
});
