// Checkpoints on a host with a data folder of its own: they are taken, compared and brought back there.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { call, QUICK_YIELD, scratch, uniqueId } from '../../helpers/engines/temporal';

const engine = new EngineOfItsOwn({ ownServer: true });
const files = scratch();
let far: RemoteHost;
beforeAll(async () => {
  await engine.start();
  far = new RemoteHost('far', engine.server().address);
  await far.serve();
}, 60_000);
afterAll(async () => {
  await far.end();
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

test('an agent’s files on another host are recorded, compared and rewound there; while it is away, that is said', async () => {
  const cwd = join(far.root, 'project');
  mkdirSync(cwd);
  const write = (code: string): { text: string } => ({
    text: call('code_execution_tool', { runtime: 'terminal', code }),
  });
  const agent = engine.client.agent(uniqueId('far'));
  const model = files.model([write('echo one > a.txt'), write('echo two > a.txt'), { text: 'written' }]);
  await agent.start({ mode: 'conversation', host: 'far', cwd, model, yield: QUICK_YIELD });
  await agent.send('write');
  expect((await agent.workspace.diff({ step: 2 })).text).toMatch(/^-one\n\+two$/m);
  await agent.workspace.rewind(1);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
  expect(existsSync(join(far.dataDir, 'checkpoints', 'far', 'store.git'))).toBe(true);
  expect(existsSync(join(engine.dataDir, 'checkpoints', 'far'))).toBe(false);
  await far.kill();
  await expect(agent.workspace.rewind(0)).rejects.toMatchObject({ code: 'host_offline' });
  await agent.stop();
}, 120_000);
