// docs/operating.md, "Backup": a data folder is copied while nothing of it runs, and goes on from the copy, elsewhere.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastClient } from '../../../client/holdfast-client';
import { enginePaths, readRecord } from '../../../engine/record';
import { endDataFolder } from '../../helpers/engines/end-data-folder';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, scratch, uniqueId } from '../../helpers/engines/temporal';

const engine = new EngineOfItsOwn({ ownServer: true });
const files = scratch();
const copy = mkdtempSync(join(tmpdir(), 'holdfast-restored-'));

beforeAll(() => engine.start(), 60_000);
afterAll(async () => {
  await endDataFolder(copy);
  rmSync(copy, { recursive: true, force: true });
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

test('a folder that was copied while nothing of it ran goes on elsewhere, with its agents, transcripts and logs, in fresh shells', async () => {
  const [ended, open] = [uniqueId('ended'), uniqueId('open')];
  const command = (code: string): { text: string } => ({
    text: call('code_execution_tool', { runtime: 'terminal', code }),
  });
  const { client } = engine;
  await client.agent(ended).start({ task: 'x', ...files.settings([{ text: 'first' }]) });
  expect(await client.agent(ended).result()).toMatchObject({ answer: 'first' });
  const replies = [
    command('here=1; echo kept'),
    { text: 'one' },
    command('echo "here:$here"'),
    { text: 'two' },
  ];
  await client.agent(open).start({ mode: 'conversation', ...files.settings(replies) });
  expect(await client.agent(open).send('hello')).toMatchObject({ answer: 'one' });

  expect(await engine.cliInTurn(['down', '--sessions'])).toMatchObject({ code: 0 });
  execFileSync('cp', ['-a', `${engine.dataDir}/.`, copy]);
  // The machine is gone.
  for (const name of readdirSync(engine.dataDir)) rmSync(join(engine.dataDir, name), { recursive: true });
  expect(await engine.cliInTurn(['up', '--data', copy])).toMatchObject({ code: 0 });

  const { address = '' } = readRecord(enginePaths(copy)) ?? {};
  const restored = await HoldfastClient.connect({ address, namespace: engine.namespace }, {});
  try {
    expect(await restored.agent(ended).result()).toMatchObject({ answer: 'first' });
    const { output } = await restored.session({ agent: open, session: 0 }).output({ from: 0 });
    expect(output).toContain('kept');
    expect(await restored.agent(open).send('again')).toMatchObject({ answer: 'two' });
    const { messages } = await restored.agent(open).transcript();
    const results = messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
    expect(results).toHaveLength(2);
    expect(results[1]).toMatch(/here:\s/);
  } finally {
    await restored.close();
  }
}, 180_000);
