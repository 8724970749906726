// What an agent with a workspace of its own may write, on a host with a sandbox.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { noSandbox } from '../../helpers/hosts/sandbox';
import { call, QUICK_YIELD, scratch, uniqueId, type Reply } from '../../helpers/engines/temporal';
import { messagesOf, run } from './agents-with-files';

const missing = noSandbox();
const whereSandboxed = missing === undefined ? describe : describe.skip;

whereSandboxed(`in a sandbox${missing === undefined ? '' : ` (not checked: ${missing})`}`, () => {
  const engine = new EngineOfItsOwn();
  const scripts = scratch();
  const shared = join(engine.dataDir, 'work');
  let outside: string;

  beforeAll(async () => {
    mkdirSync(shared, { recursive: true });
    writeFileSync(join(shared, 'a.txt'), 'one\n');
    mkdirSync(join(shared, 'secrets'));
    writeFileSync(join(shared, 'secrets', 'key'), 'secret\n');
    const hidden = `hidden = ["${join(shared, 'secrets')}"]`;
    const config = `[sandbox]\nmode = "required"\n${hidden}\n[checkpoints]\nenabled = "on"\n`;
    engine.configure(config);
    outside = mkdtempSync(join(tmpdir(), 'holdfast-outside-'));
    writeFileSync(join(outside, 'secret.txt'), 'canary\n');
    await engine.start();
  }, 60_000);
  afterAll(async () => {
    const left = await engine.end();
    scripts.remove();
    rmSync(outside, { recursive: true });
    expect(left).toEqual([]);
  }, 60_000);

  const resultsOf = async (of: string): Promise<string[]> =>
    (await messagesOf(engine.client.agent(of))).flatMap((message) =>
      message.role === 'tool' ? [message.content] : [],
    );
  const throughSubAgent = (id: string, work: string): Reply[] => {
    const own = scripts.model([run(work), { text: 'written' }]);
    return [
      { text: call('spawn_agent', { role: 'Writer', prompt: 'write', model: own, workspace: 'own' }) },
      { text: call('wait_for_agents', { agent_ids: [`${id}-writer-1`] }) },
      { text: call('apply_workspace', { agent_id: `${id}-writer-1` }) },
      { text: 'done' },
    ];
  };

  test('nothing that the sandbox hides is written by way of a sub-agent', async () => {
    const id = uniqueId('escape');
    const replies = throughSubAgent(id, 'mkdir -p secrets; echo new > secrets/key; echo x > harmless');
    await engine.client.agent(id).start({ task: 'go', model: scripts.model(replies), yield: QUICK_YIELD });
    await engine.client.agent(id).result();
    expect((await resultsOf(id)).at(-1)).toMatch(/secrets\/key \(the sandbox hides it here\)/);
    expect(readFileSync(join(shared, 'secrets', 'key'), 'utf8')).toBe('secret\n');
    expect(existsSync(join(shared, 'harmless'))).toBe(false);
  }, 60_000);

  test('an agent that is started outside of the sandbox reads and writes nothing there, and its steps say so', async () => {
    const id = uniqueId('outside');
    const replies = [
      run('echo x > direct; cat secret.txt'),
      ...throughSubAgent(id, 'cat secret.txt; echo x > planted'),
    ];
    const agent = engine.client.agent(id);
    await agent.start({
      ...{ task: 'go', model: scripts.model(replies), cwd: outside, context: ['secret.txt'] },
      yield: QUICK_YIELD,
    });
    await agent.result();
    const messages = await messagesOf(agent);
    expect(messages).toContainEqual(
      expect.objectContaining({
        role: 'checkpoint',
        outcome: {
          state: 'off',
          reason: expect.stringContaining('`writable` in [sandbox] adds it') as string,
        },
      }),
    );
    expect(JSON.stringify(messages)).not.toContain('canary');
    expect(readdirSync(outside)).toEqual(['secret.txt']);
  }, 60_000);

  test('a sub-agent’s own workspace is all that its shells and tools can write; the shared one it reads', async () => {
    const id = uniqueId('parent');
    const own: Reply[] = [
      run(
        `cat ${shared}/a.txt; cat secrets/key; echo x > ${shared}/shell; echo y > mine; ls ${engine.dataDir}/checkpoints`,
      ),
      { text: call('write_file', { file_path: join(shared, 'tool'), content: 'x' }) },
      { text: call('shell', { command: ['sh', '-c', `echo x > ${shared}/program; echo z > too`] }) },
      { text: 'written' },
    ];
    const agent = engine.client.agent(id);
    const replies: Reply[] = [
      {
        text: call('spawn_agent', {
          role: 'Writer',
          prompt: 'write',
          model: scripts.model(own),
          workspace: 'own',
        }),
      },
      { text: call('wait_for_agents', { agent_ids: [`${id}-writer-1`] }) },
      { text: call('apply_workspace', { agent_id: `${id}-writer-1` }) },
      run('cat mine too; ls'),
      { text: 'done' },
    ];
    await agent.start({ task: 'go', model: scripts.model(replies), yield: QUICK_YIELD });
    expect(await agent.result()).toMatchObject({ reason: 'answered' });
    const [shell = '', tool, program] = await resultsOf(`${id}-writer-1`);
    expect(shell).toMatch(/^one\n/);
    // What the sandbox hides is not in the copy, either.
    expect(shell).toMatch(/secrets\/key: No such file/);
    expect(shell).toMatch(/shell: Read-only file system/);
    expect(shell).toMatch(/cannot access .*checkpoints/);
    expect(tool).toMatch(/^Error /);
    expect(program).toMatch(/Read-only file system/);
    expect((await resultsOf(id)).slice(-2)).toEqual([
      'Applied: 2 added\nA mine\nA too',
      expect.stringMatching(/^y\nz\na\.txt +mine +secrets +too\n/) as string,
    ]);
    expect(['shell', 'tool', 'program'].filter((name) => existsSync(join(shared, name)))).toEqual([]);
    expect(readFileSync(join(shared, 'a.txt'), 'utf8')).toBe('one\n');
  }, 60_000);
});
