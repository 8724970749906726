// What agents did to files, over the API. The routes lead to the client, whose tests are in tests/integration/workspaces.
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayOfItsOwn } from '../../helpers/gateway-of-its-own';
import { call, uniqueId } from '../../helpers/temporal';
import { until } from '../../helpers/until';

const own = new GatewayOfItsOwn();
const { engine, files } = own;
beforeAll(() => own.start(), 60_000);
afterAll(() => own.end(), 60_000);

test('what an agent did to files is listed, compared and rewound once for a key', async () => {
  const folder = mkdtempSync(join(files.directory, 'workspace-'));
  const write = { text: call('code_execution_tool', { runtime: 'terminal', code: 'echo one > a.txt' }) };
  const agent = uniqueId('files');
  const settings = files.settings([write, { text: 'written' }]);
  await own.api.post('/v1/agents', {
    id: agent,
    task: 'write',
    mode: 'conversation',
    ...settings,
    cwd: folder,
  });
  await until(async () => (await engine.client.agent(agent).ownState()).status === 'idle');
  const changes = { added: 1, modified: 0, deleted: 0 };
  expect(await own.api.get(`/v1/agents/${agent}/steps`)).toMatchObject({
    items: [
      { step: 1, outcome: { state: 'kept', changes } },
      { step: 2, kind: 'answer', outcome: null },
    ],
  });
  expect(await own.api.get(`/v1/agents/${agent}/diff?step=1`)).toMatchObject({
    changes: { counts: changes, paths: [{ path: 'a.txt', kind: 'added' }] },
    text: expect.stringContaining('+one') as string,
  });
  expect(await own.api.get(`/v1/agents/${agent}/diff?lines=false`)).toMatchObject({ text: null });
  const rewind = `/v1/agents/${agent}/rewind`;
  expect(await own.api.post(rewind, { to: 0, dryRun: true })).toMatchObject({ step: null, messages: 4 });
  expect(await own.api.post(rewind, { to: 0 }, 'r')).toMatchObject({ step: 3, to: 0 });
  expect(await own.api.post(rewind, { to: 0 }, 'r')).toMatchObject({ step: 3 });
  expect(existsSync(join(folder, 'a.txt'))).toBe(false);
  expect(await own.api.ask('GET', `/v1/agents/${agent}/diff?step=2`)).toMatchObject({
    ...{ status: 404, body: { code: 'no_checkpoint' } },
  });
  expect(await own.api.ask('POST', rewind, { to: 9 })).toMatchObject({ status: 400 });
});
