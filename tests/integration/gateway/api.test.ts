// The HTTP API: each route does what it says, says what its schema says, and answers bad input with what is wrong.
import type { Route } from '../../../gateway/http/route';
import { ALL_ROUTES } from '../../../gateway/routes/all-routes';
import type { ApiClient, Json } from '../../helpers/gateway/gateway';
import { GatewayOfItsOwn } from '../../helpers/gateway/gateway-of-its-own';
import { call, QUICK_YIELD, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const own = new GatewayOfItsOwn();
const { engine, files } = own;
let api: ApiClient;
beforeAll(async () => {
  await own.start({ config: '[policy.agents]\nasked = "ask"\n', role: 'admin' });
  api = own.api;
}, 60_000);
afterAll(() => own.end(), 60_000);

const routes = ALL_ROUTES as unknown as Route[];
async function start(replies: Parameters<typeof files.settings>[0], more: object = {}): Promise<string> {
  const id = uniqueId('api');
  await api.post('/v1/agents', {
    id,
    task: 'first',
    mode: 'conversation',
    ...files.settings(replies),
    ...more,
  });
  return id;
}

const isIdle = (agent: string) => async (): Promise<boolean> =>
  (await api.get<{ status: string }>(`/v1/agents/${agent}`)).status === 'idle';

test('an agent is started, followed, sent to, forked and stopped', async () => {
  const agent = await start([{ text: 'one' }, { text: 'two' }]);
  await until(isIdle(agent));
  expect(await api.post(`/v1/agents/${agent}/messages`, { message: 'second' }, 'm1')).toEqual({ id: 'm1' });
  await until(async () => (await api.get<{ total: number }>(`/v1/agents/${agent}/transcript`)).total === 4);
  expect(await api.get(`/v1/agents/${agent}/transcript?from=2&limit=1`)).toMatchObject({
    messages: [{ role: 'user', text: 'second' }],
    total: 4,
  });
  const { agent: fork } = await api.post<{ agent: string }>(`/v1/agents/${agent}/fork`, { at: 2 }, 'f');
  expect(await api.post(`/v1/agents/${agent}/fork`, { at: 2 }, 'f')).toEqual({ agent: fork });
  expect(await api.get(`/v1/agents/${fork}/transcript`)).toMatchObject({ total: 2 });
  await api.post(`/v1/agents/${agent}/interrupt`);
  await api.post(`/v1/agents/${agent}/recover`, { reason: 'just so' });
  expect(await api.get(`/v1/agents/${agent}/timeline`)).toMatchObject({
    items: expect.arrayContaining([expect.objectContaining({ kind: 'turn', turn: 2 })]) as unknown,
    truncated: false,
  });
  expect(await api.get(`/v1/agents/${agent}/tree`)).toMatchObject({ agent, status: 'running', agents: [] });
  await api.post(`/v1/agents/${agent}/stop`, { reason: 'enough' });
  const state = async (): Promise<unknown> =>
    // Its fork is named after it.
    (await api.get<{ items: Json[] }>(`/v1/agents?ended=true&text=${agent}`)).items.find(
      ({ id }) => id === agent,
    )?.state;
  await until(async () => (await state()) === 'ended');
});

test('the same Idempotency-Key starts one agent, sends one message and runs one command', async () => {
  const body = { mode: 'conversation', ...files.settings([{ text: 'one' }]) };
  const key = uniqueId('key');
  const first = await api.post<{ agent: string }>('/v1/agents', body, key);
  expect(await api.post('/v1/agents', body, key)).toEqual(first);
  expect(
    await api.ask('POST', '/v1/agents', { ...body, id: first.agent }, { 'Idempotency-Key': 'another' }),
  ).toMatchObject({
    status: 409,
    body: { code: 'id_conflict' },
  });
  expect(
    await api.ask('POST', '/v1/agents', { ...body, tenant: 'other' }, { 'Idempotency-Key': key }),
  ).toMatchObject({ status: 409, body: { code: 'id_conflict' } });
  const messages = `/v1/agents/${first.agent}/messages`;
  await api.post(messages, { message: 'go' }, 'm');
  await api.post(messages, { message: 'go' }, 'm');
  expect(await api.ask('POST', messages, { message: 'no' }, { 'Idempotency-Key': 'm' })).toMatchObject({
    status: 409,
    body: { code: 'id_conflict' },
  });
  const exec = `/v1/sessions/${first.agent}/local/0/exec`;
  const runs = [1, 2].map(() =>
    api.post(exec, { code: 'echo x >> ran; wc -l < ran', yield: QUICK_YIELD }, 'c'),
  );
  for (const view of await Promise.all(runs)) expect(view).toMatchObject({ output: '1\n', exitCode: 0 });
  expect(await api.ask('POST', exec, { code: 'other' }, { 'Idempotency-Key': 'c' })).toMatchObject({
    status: 409,
  });
  await api.post(`/v1/agents/${first.agent}/stop`);
  const ended = `/v1/agents?ended=true&text=${first.agent}`;
  await until(async () => (await api.get<{ items: Json[] }>(ended)).items[0]?.state === 'ended');
  expect(await api.post('/v1/agents', body, key)).toEqual(first);
  expect(await api.get(ended)).toMatchObject({ items: [{ state: 'ended' }] });
});

test('lists of agents have pages, filters and texts', async () => {
  const [a, b] = [await start([{ text: 'x' }]), await start([{ text: 'x' }])];
  const idle = (id: string): Promise<{ items: Json[] }> =>
    api.get(`/v1/agents?state=idle&waitsFor=message&text=${id.toUpperCase()}`);
  // Lists follow a moment later.
  for (const id of [a, b]) await until(async () => (await idle(id)).items.length === 1);
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: { items: { id: string }[]; next: string | null } = await api.get(
      `/v1/agents?limit=1${cursor && `&cursor=${cursor}`}`,
    );
    expect(page.items.length).toBeLessThanOrEqual(1);
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.next;
  }
  expect(ids).toEqual(expect.arrayContaining([a, b]));
  expect(new Set(ids).size).toBe(ids.length);
  expect((await idle(a)).items).toMatchObject([
    { id: a, state: 'idle', waitsFor: 'message', message: 'first' },
  ]);
});

test('a session runs code, is typed into, read, waited for, reset and closed', async () => {
  const session = `/v1/sessions/${uniqueId('api')}/local/3`;
  const view = await api.post(`${session}/exec`, {
    code: 'read -p "name? " x; echo hi $x; sleep 60',
    yield: QUICK_YIELD,
  });
  expect(view).toMatchObject({ state: 'waiting_input', waiting: { echo: true } });
  expect(await api.ask('POST', `${session}/exec`, { code: 'echo other' })).toMatchObject({
    status: 409,
    body: { code: 'busy', effect: 'none' },
  });
  expect(await api.post(`${session}/input`, { keyboard: 'Bob', yield: QUICK_YIELD })).toMatchObject({
    output: expect.stringContaining('hi Bob') as string,
  });
  expect(await api.get(`${session}/output?from=0`)).toMatchObject({
    output: expect.stringMatching(/^name\?/) as string,
  });
  const { body, headers } = await api.ask('GET', `${session}/log?from=0&bytes=5`);
  expect(body).toBe('name?');
  expect(headers.get('Holdfast-To')).toBe('5');
  expect((await api.ask('GET', `${session}/log/download`)).body).toMatch(/^name\?/);
  expect(await api.get(`${session}/log/find?text=me%3F`)).toEqual({ at: 2, next: null });
  expect(await api.post(`${session}/wait`, { for: 'exit', waitMs: 10 })).toMatchObject({ met: false });
  expect(await api.post(`${session}/reset`, { reason: 'enough' })).toMatchObject({
    killedBy: { by: 'reset' },
  });
  const list = await api.get<{ items: Json[] }>('/v1/sessions');
  expect(list.items).toContainEqual(expect.objectContaining({ session: 3, host: 'local' }));
  await api.post(`${session}/close`, { reason: 'done' });
  await until(async () => (await api.get<{ status: string }>(session)).status === 'closed');
});

test('an approval is answered by its key and its hash, and shows who answered', async () => {
  const session = '/v1/sessions/asked/local/0';
  const running = api.post(`${session}/exec`, {
    code: 'echo approved',
    yield: { maxMs: 600_000, firstOutputMs: 600_000 },
  });
  type Item = { key: string; hash: string; what: string };
  let item: Item | undefined;
  await until(async () => {
    [item] = (await api.get<{ items: Item[] }>('/v1/approvals?agent=asked')).items;
    return item !== undefined;
  });
  const { key, hash } = item as Item;
  expect(await api.get(`/v1/approvals/${key}`)).toMatchObject({
    hash,
    what: expect.stringContaining('echo approved') as string,
  });
  await until(async () => JSON.stringify(await api.get('/v1/inbox')).includes(key));
  expect(await api.ask('POST', `/v1/approvals/${key}/approve`, { hash: 'other' })).toMatchObject({
    status: 409,
    body: { code: 'approval_changed' },
  });
  await api.post(`/v1/approvals/${key}/approve`, { hash });
  expect(await running).toMatchObject({ output: 'approved\n' });
  expect(await api.ask('POST', `/v1/approvals/${key}/deny`, {})).toMatchObject({ status: 404 });
  const second = api.ask('POST', `${session}/exec`, { code: 'echo never' });
  await until(async () => {
    [item] = (await api.get<{ items: Item[] }>('/v1/approvals?agent=asked')).items;
    return item !== undefined;
  });
  await api.post(`/v1/approvals/${(item as Item).key}/deny`, { reason: 'not here' });
  expect(await second).toMatchObject({ status: 403, body: { code: 'approval_denied' } });
});

test('usage is summed by agent, tree, model and day', async () => {
  const usage = { inputTokens: 100, outputTokens: 10, costUsd: 0.5 };
  const agent = await start([
    { text: call('code_execution_tool', { runtime: 'terminal', code: 'true' }), usage },
    { text: 'x', usage },
  ]);
  await until(isIdle(agent));
  type Line = { key: string; inputTokens: number; costUsd: number };
  const report = await api.get<Record<'byAgent' | 'byDay' | 'byTree', Line[]>>('/v1/usage');
  expect(report.byAgent).toContainEqual(
    expect.objectContaining({ key: agent, inputTokens: 200, costUsd: 1 }),
  );
  expect(report.byDay.map(({ key }) => key)).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d$/)]);
});

test('hosts, tools, the token and its list answer, and a path that does not exist had no effect', async () => {
  expect(await api.get('/v1/hosts')).toEqual({ items: [], next: null, unanswered: [] });
  expect(await api.ask('GET', '/v1/nothing')).toMatchObject({ status: 404, body: { effect: 'none' } });
  expect(await api.ask('GET', '/v1/hosts/nowhere')).toMatchObject({
    status: 404,
    body: { code: 'unknown_host' },
  });
  expect((await api.get<{ tools: { name: string }[] }>('/v1/tools')).tools.map(({ name }) => name)).toContain(
    'code_execution_tool',
  );
  expect(await api.get('/v1/me')).toMatchObject({ role: 'admin', namespace: engine.namespace });
  expect(JSON.stringify(await api.get('/v1/tokens'))).not.toContain(api.token);
});

test('a connection without a request stays open longer than proxies keep theirs, and clients are told so', async () => {
  expect((await api.ask('GET', '/v1/hosts')).headers.get('keep-alive')).toBe('timeout=75');
});

test('a webhook is created, listed, tested and deleted', async () => {
  // Port 9 discards, where anything listens at all.
  const body = { id: 'api-hook', url: 'http://127.0.0.1:9/', events: ['turn.ended'], agents: ['nobody'] };
  const { secret, ...created } = await api.post<Json>('/v1/webhooks', body);
  expect(created).toMatchObject({ ...body, source: 'api' });
  expect(secret).toMatch(/^whsec_/);
  expect(await api.post('/v1/webhooks/api-hook/test')).toEqual({
    id: expect.stringMatching(/^evt_/) as string,
  });
  expect(await api.ask('POST', '/v1/webhooks', body)).toMatchObject({
    status: 409,
    body: { code: 'id_conflict' },
  });
  const { items } = await api.get<{ items: Json[] }>('/v1/webhooks');
  expect(items).toEqual([expect.objectContaining(created)]);
  expect(await api.ask('DELETE', '/v1/webhooks/api-hook')).toMatchObject({ status: 204 });
  expect(await api.get('/v1/webhooks')).toEqual({ items: [], next: null });
});

test('the document has every route, and every route of the document was asked here', async () => {
  const { body } = await api.ask('GET', '/openapi.json');
  const paths = (body as { paths: Record<string, Record<string, Json>> }).paths;
  for (const { path, method } of routes) expect(paths[path]?.[method.toLowerCase()]).toBeDefined();
  // Streams, terminals, images, files, failures and log-ins have test files of their own; the rest is above.
  const elsewhere = [
    'followAll',
    'followAgent',
    'logIn',
    'logOut',
    'listLogins',
    'beginLogin',
    'finishLogin',
    'createToken',
    'revokeToken',
    'getHost',
    'getImage',
    'readFile',
    'writeFile',
    'uploadedBytes',
    'listSteps',
    'getDiff',
    'rewindAgent',
    'retryAgent',
    'dismissFailure',
  ];
  const known = Object.values(paths).flatMap((path) =>
    Object.values(path).map((one) => String(one.operationId)),
  );
  expect(new Set(known).size).toBe(known.length);
  expect(known.filter((name) => !/^[a-z][A-Za-z]+$/.test(name))).toEqual([]);
  expect(known.filter((id) => !api.asked.has(id) && !elsewhere.includes(id))).toEqual([]);
});

describe('bad input gets a problem that says what is allowed, and does nothing', () => {
  const A = '/v1/agents';
  const S = '/v1/sessions/s/local/0';
  test.each([
    ['no JSON', 'POST', A, '{', 400, 'invalid_input'],
    ['an array', 'POST', A, '[]', 400, 'invalid_input'],
    ['no model', 'POST', A, { task: 'x' }, 400, 'invalid_input'],
    ['an unknown key', 'POST', A, { model: 'scripted:x', colour: 'red' }, 400, 'invalid_input'],
    ['an id with a slash', 'POST', A, { id: 'a/b', model: 'scripted:x' }, 400, 'invalid_input'],
    ['an id in upper case', 'GET', '/v1/agents/ABC', undefined, 400, 'invalid_input'],
    ['an id of dots', 'GET', '/v1/agents/%2e%2e%2fx', undefined, 400, 'invalid_input'],
    ['an agent that is none', 'GET', '/v1/agents/nobody', undefined, 404, 'not_found'],
    ['a message to nobody', 'POST', '/v1/agents/nobody/messages', { message: 'x' }, 404, 'not_found'],
    ['an empty message', 'POST', '/v1/agents/nobody/messages', { message: ' ' }, 400, 'invalid_input'],
    [
      'an unknown mode',
      'POST',
      '/v1/agents/nobody/messages',
      { message: 'x', mode: 'shout' },
      400,
      'invalid_input',
    ],
    ['a fork of nobody', 'POST', '/v1/agents/nobody/fork', {}, 404, 'not_found'],
    ['a limit of 0', 'GET', `${A}?limit=0`, undefined, 400, 'invalid_input'],
    ['a limit in words', 'GET', `${A}?limit=ten`, undefined, 400, 'invalid_input'],
    ['an unknown filter', 'GET', `${A}?colour=red`, undefined, 400, 'invalid_input'],
    ['an unknown state', 'GET', `${A}?state=happy`, undefined, 400, 'invalid_input'],
    ['a cursor of somebody else', 'GET', `${A}?cursor=AAAA`, undefined, 400, 'invalid_input'],
    ['a session of words', 'GET', '/v1/sessions/s/local/one', undefined, 400, 'invalid_input'],
    ['a session below 0', 'GET', '/v1/sessions/s/local/-1', undefined, 400, 'invalid_input'],
    ['a session that is none', 'GET', '/v1/sessions/s/local/7', undefined, 404, 'not_found'],
    ['empty code', 'POST', `${S}/exec`, { code: ' ' }, 400, 'invalid_input'],
    ['code for no host', 'POST', '/v1/sessions/s/nobody/0/exec', { code: 'x' }, 404, 'unknown_host'],
    ['an unknown runtime', 'POST', `${S}/exec`, { code: 'x', runtime: 'cobol' }, 400, 'invalid_input'],
    ['input to nothing', 'POST', `${S}/input`, { keyboard: 'x' }, 404, 'not_found'],
    ['an unknown key to press', 'POST', `${S}/input`, { keys: ['any'] }, 400, 'invalid_input'],
    ['a log of nothing', 'GET', '/v1/sessions/none/local/0/log', undefined, 404, 'not_found'],
    ['a search for nothing', 'GET', `${S}/log/find?text=`, undefined, 400, 'invalid_input'],
    ['a download of nothing', 'GET', '/v1/sessions/none/local/0/log/download', undefined, 404, 'not_found'],
    ['a body where none is taken', 'POST', '/v1/agents/nobody/interrupt', { a: 1 }, 400, 'invalid_input'],
    ['a key of no approval', 'GET', '/v1/approvals/x', undefined, 400, 'invalid_input'],
    ['an approval without a hash', 'POST', '/v1/approvals/x/approve', {}, 400, 'invalid_input'],
    ['a role that is none', 'POST', '/v1/tokens', { name: 'x', role: 'king' }, 400, 'invalid_input'],
    [
      'a pattern with a slash',
      'POST',
      '/v1/tokens',
      { name: 'x', role: 'viewer', agents: ['a/*'] },
      400,
      'invalid_input',
    ],
    ['a method that it does not have', 'PUT', A, {}, 405, 'invalid_input'],
    ['a path that it does not have', 'GET', '/v1/nothing', undefined, 404, 'not_found'],
  ] as const)('%s', async (...[, method, path, body, status, code]) => {
    const answer = await api.ask(method, path, body);
    expect(answer.headers.get('Content-Type')).toBe('application/problem+json');
    expect(answer).toMatchObject({
      status,
      body: {
        ...{ status, code, type: `docs/errors.md#${code}`, title: code.replaceAll('_', ' ') },
        detail: expect.stringContaining('got') as string,
        next: expect.any(String) as string,
      },
    });
  });

  test('a body that is not told to be JSON, and one that is too large', async () => {
    expect(await api.ask('POST', A, '{}', { 'Content-Type': 'text/plain' })).toMatchObject({ status: 400 });
    expect(await api.ask('POST', A, `"${'x'.repeat(5_000_000)}"`)).toMatchObject({ status: 413 });
    expect(await api.ask('POST', A, {}, { 'Idempotency-Key': 'with spaces' })).toMatchObject({ status: 400 });
  });

  test('what was typed is in no problem', async () => {
    const { body } = await api.ask('POST', `${S}/input`, { keyboard: 'my password', colour: 'red' });
    expect(JSON.stringify(body)).not.toContain('my password');
  });
});
