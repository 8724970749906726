// An agent or a session whose working folder is a relative path: the person's at a command line, refused elsewhere.
import { mkdirSync, mkdtempSync, realpathSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentWorkflowId } from '../../../contracts/ids';
import { WORKFLOWS } from '../../../contracts/messages';
import { toolBlock } from '../../../testing';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { uniqueId } from '../../helpers/engines/temporal';

jest.setTimeout(60_000);

const engine = new EngineOfItsOwn();
const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-relative-')));
const replies = join(cwd, 'replies.yaml');
beforeAll(async () => {
  mkdirSync(join(cwd, 'sub'));
  const calls = [
    { id: 'written', tool: 'write_file', args: { file_path: 'written.txt', content: 'x' } },
    { id: 'folder', tool: 'shell', args: { command: ['pwd'] } },
    { id: 'session', tool: 'code_execution_tool', args: { runtime: 'terminal', code: 'pwd', session: 1 } },
  ];
  writeFileSync(replies, JSON.stringify([{ text: toolBlock(calls) }, { text: 'Done.' }]));
  await engine.start();
}, 60_000);
afterAll(async () => {
  rmSync(cwd, { recursive: true, force: true });
  expect(await engine.end()).toEqual([]);
}, 60_000);

const toldTo = async (agent: string): Promise<string[]> => {
  const { messages } = await engine.client.agent(agent).page({ from: 0 });
  return messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
};

test('at the command line a relative folder is the person’s, for tools and shells alike', async () => {
  const exec = await engine.cliInTurn(['exec', '--session', '1', '--cwd', 'sub', 'pwd'], { cwd });
  expect(exec).toMatchObject({ code: 0, stdout: `${join(cwd, 'sub')}\n` });
  const same = await engine.cliInTurn(['exec', '--session', '1', '--cwd', '.', 'pwd'], {
    cwd: join(cwd, 'sub'),
  });
  expect(same).toMatchObject({ code: 0, stdout: `${join(cwd, 'sub')}\n` });
  const agent = uniqueId('person');
  const model = ['--model', `scripted:${replies}`, '--dialect', 'tagged'];
  const run = await engine.cliInTurn(['run', '--agent', agent, '--cwd', 'sub', ...model, 'x'], { cwd });
  expect(run.code).toBe(0);
  expect(readdirSync(join(cwd, 'sub'))).toEqual(['written.txt']);
  const [, ...folders] = await toldTo(agent);
  for (const folder of folders) expect(folder).toContain(`${join(cwd, 'sub')}\n`);
});

test('a program’s relative folder is refused before anything is started', async () => {
  const { client } = engine;
  const said = {
    code: 'invalid_input',
    message: expect.stringContaining('allowed an absolute path') as string,
  };
  const agent = client.agent(uniqueId('program'));
  await expect(agent.start({ task: 'x', model: `scripted:${replies}`, cwd: 'sub' })).rejects.toMatchObject(
    said,
  );
  expect(() => client.session({ agent: agent.id, session: 0 }, { cwd: 'sub' })).toThrow(
    expect.objectContaining(said) as Error,
  );
});

test('an agent that an operator started in a relative folder does nothing there, and its model is told why', async () => {
  const agent = uniqueId('operator');
  const before = readdirSync(engine.dataDir);
  await engine.client.temporal.workflow.execute(WORKFLOWS.agent, {
    workflowId: agentWorkflowId(agent),
    taskQueue: engine.client.server.queue,
    args: [{ task: 'x', model: `scripted:${replies}`, dialect: 'tagged', cwd: '.' }],
  });
  expect(readdirSync(engine.dataDir).filter((name) => !before.includes(name))).not.toContain('written.txt');
  const refused = expect.stringMatching(/^Error .* an absolute path.*nothing was (run|started)/) as string;
  expect(await toldTo(agent)).toEqual([refused, refused, refused]);
});
