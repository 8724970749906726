import { testHost, type TestHost } from '../../helpers/session-host';

let t: TestHost;
beforeAll(() => (t = testHost()));
afterAll(() => t.end());

test('environment, folder, functions and exports persist between commands of a session', async () => {
  await t.run('cd /; export A=1; b() { echo "b $A"; }');
  expect((await t.run('pwd; b')).output).toBe('/\nb 1\n');
});

test('another session does not see them', async () => {
  await t.run('export ONLY_HERE=1');
  const other = { ...t.ref, session: 1 };
  expect((await t.run('echo "[$ONLY_HERE]"', { ref: other })).output).toBe('[]\n');
});
