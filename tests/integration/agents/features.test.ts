// `[features] unified_exec = false` in holdfast.toml.
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';

const engine = new EngineOfItsOwn();
beforeAll(async () => {
  await engine.startServer();
  engine.configure('[features]\nunified_exec = false\n');
  await engine.start();
}, 60_000);
afterAll(async () => {
  expect(await engine.end()).toEqual([]);
}, 60_000);

test('with unified_exec off neither exec_command nor the stubs are offered, and all else is', async () => {
  const { stdout } = await engine.cli(['tools', '--json']);
  const { tools } = JSON.parse(stdout) as { tools: { name: string }[] };
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['code_execution_tool', 'shell', 'read_file']));
  expect(names).not.toContain('exec_command');
  expect(names).not.toContain('write_stdin');
  const session = engine.client.session({ agent: 'off', session: 0 });
  const { output } = await session.exec({
    code: 'env | grep -c HOLDFAST_TOOL; type tool; python3 -c "import codex_tools"',
  });
  expect(output).toMatch(/^0\s/);
  expect(output).toMatch(/tool: not found/);
  expect(output).toContain("No module named 'codex_tools'");
}, 60_000);
