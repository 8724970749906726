// What agents did to files, over the API. The routes lead to the client, whose tests are in tests/integration/workspaces.
import { existsSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { readDiff } from '../../../../console/text/read-diff';
import { jsonBytes } from '../../../../contracts/payload-size';
import type { Comparison } from '../../../../contracts/workspaces/requests-to-hosts';
import { GatewayOfItsOwn } from '../../../helpers/gateway/gateway-of-its-own';
import { call, uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

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

test('a diff that is too long as JSON is cut at its end, between two lines, and says so', async () => {
  const folder = mkdtempSync(join(files.directory, 'workspace-'));
  // 960,000 bytes as git writes them, and 1,080,000 as JSON: each line end, tab and quote takes two bytes there.
  const lines = `awk 'BEGIN { for (n = 0; n < 10000; n++) printf "\\t\\"line %05d of one of 3 files\\"\\n", n }'`;
  const code = `for name in a b c; do ${lines} > $name; done`;
  const agent = uniqueId('long');
  await own.api.post('/v1/agents', {
    ...{ id: agent, task: 'write', cwd: folder },
    ...files.settings([{ text: call('code_execution_tool', { runtime: 'terminal', code }) }, { text: 'x' }]),
  });
  await engine.client.agent(agent).result();
  const { changes, text, isCut } = await own.api.get<Comparison>(`/v1/agents/${agent}/diff?step=1`);
  expect(changes.paths.map(({ path, insertions }) => [path, insertions])).toEqual([
    ['a', 10_000],
    ['b', 10_000],
    ['c', 10_000],
  ]);
  expect(isCut).toBe(true);
  const bytes = jsonBytes(text);
  expect(bytes).toBeLessThanOrEqual(1_000_000);
  expect(bytes).toBeGreaterThan(999_000);
  const found = readDiff(text ?? '');
  expect([...found].map(([path, { isCut }]) => [path, isCut])).toEqual([
    ['a', false],
    ['b', false],
    ['c', true],
  ]);
  // No line is missing before the last one.
  const shown = [...found.values()].flatMap(({ lines }) => lines.filter(({ kind }) => kind === 'added'));
  expect(shown.map(({ text }) => Number(/\d+/.exec(text)?.[0]))).toEqual(
    Array.from(shown, (_line, n) => n % 10_000),
  );
});
