// Conversations on the command line: in real terminals, through pipes, with a real server.
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Terminal } from '@xterm/headless';
import type { AgentResult } from '../../../contracts/agents/agent';
import { toolCall } from '../../../testing/scripted-model';
import type { CliResult } from '../../helpers/engines/command-lines';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { ModelSimulator } from '../../helpers/services/model-simulator';
import { Person } from '../../helpers/terminals/person';
import { QUICK_YIELD, scratch, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const people: Person[] = [];
let simulator: ModelSimulator;
let files: Scratch;

beforeAll(async () => {
  simulator = await ModelSimulator.start();
  files = scratch();
  engine.configure(`[model_providers.sim]\nbase_url = "${simulator.url}/v1"\nwire_api = "chat"\n`);
  await engine.start();
}, 60_000);
afterAll(async () => {
  for (const person of people) if (person.exitCode === null) person.signals('SIGKILL');
  const left = await engine.end();
  await simulator.stop();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

/** A person in a chat. */
function chat(...args: string[]): Person {
  const person = new Person(engine.dataDir, args, { command: 'chat', cwd: files.directory });
  people.push(person);
  return person;
}
const hf = (args: string[], input?: string): Promise<CliResult> =>
  input === undefined
    ? engine.cliInTurn(args, { cwd: files.directory })
    : engine.cli(args, { cwd: files.directory, input });

/** The content of a person's terminal, including scrollback. */
async function screenOf({ text }: Person): Promise<string> {
  const terminal = new Terminal({ cols: 80, rows: 24, scrollback: 1_000, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(text, resolve));
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, row) =>
    active.getLine(row)?.translateToString(true),
  );
  terminal.dispose();
  return lines.join('\n').trimEnd();
}
const stateOf = (id: string): ReturnType<ReturnType<typeof engine.client.agent>['state']> =>
  engine.client.agent(id).state();
const countOf = (text: string, part: string): number => text.split(part).length - 1;
const sleeping = toolCall('code_execution_tool', {
  runtime: 'terminal',
  code: 'touch at-work; while ! [ -e go ]; do sleep 0.05; done; echo slept',
});

describe('in a terminal', () => {
  test('the model’s text is shown as it arrives and appears once when it is complete; a killed worker’s part is dropped, with a note', async () => {
    const answer = 'It holds fast, in all weathers.';
    // Of the first reply the rest never comes: however late a busy machine kills the worker, it is in the midst of it.
    const choices = [{ index: 0, delta: { role: 'assistant', content: 'It hold' }, finish_reason: null }];
    simulator.answers.push({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', choices })}\n\n`,
      hangs: true,
      to: 'how is it?',
    });
    simulator.mock.on({ userMessage: 'how is it?' }, { content: answer }, { chunkSize: 5, latency: 5 });
    const ann = chat('--agent', 'writer', '--model', 'sim:small');
    await ann.sees('started writer, with sim:small');
    await ann.sees('idle');
    ann.types('how is it?\r');
    await ann.sees('It hold');
    // On a busy machine tokens are sooner here than what is recorded.
    await until(async () => /you {2}how is it\?/.test(await screenOf(ann)));
    await engine.killWorker();
    await ann.sees('[the model’s text so far is dropped]');
    await ann.sees('[answered after 1 step');
    const screen = await screenOf(ann);
    expect(countOf(screen, answer)).toBe(1);
    expect(countOf(screen, 'how is it?')).toBe(1);
    expect(screen).toMatch(
      /you {2}how is it\?[^]*dropped\][^]*It holds fast, in all weathers\.\n\n\[answered/,
    );
    ann.types('/stop\r');
    expect(await ann.exits()).toBe(0);
  }, 60_000);

  test('ctrl-c ends the turn and not the program, messages typed meanwhile come next; a second one leaves, and the conversation continues', async () => {
    const model = files.model([
      { text: 'never', delayMs: 600_000, expect: '(?<![^])first' },
      { text: 'unused' },
    ]);
    const ann = chat('--agent', 'pressed', '--model', model);
    await ann.sees('idle');
    ann.types('first\r');
    await ann.sees('waits for the model');
    ann.types('second\r');
    await ann.sees('1 more message waits');
    ann.types('\x03');
    await ann.sees('[interrupted after 1 step');
    await until(async () => (await stateOf('pressed')).turns === 2);
    ann.types('half typed');
    await ann.sees('half typed');
    ann.types('\x03\x03');
    expect(await ann.exits()).toBe(130);
    expect(ann.text).toContain('Come back: `holdfast chat --agent pressed`');
    expect(await stateOf('pressed')).toMatchObject({ mode: 'conversation' });
    await engine.client.agent('pressed').stop();
  }, 60_000);

  test('pasted lines are one message, two people at one conversation see the same, and what a model writes drives neither terminal', async () => {
    const model = files.model([{ expect: 'one\ntwo\n  three', text: 'Three lines.\x1b]0;title\x07\x1b[2J' }]);
    const ann = chat('--agent', 'shared', '--model', model);
    await ann.sees('idle');
    const bob = chat('--resume');
    await bob.sees('joined shared');
    await bob.sees('idle');
    ann.types('\x1b[200~one\rtwo\r  three\x1b[201~');
    await ann.sees('three');
    ann.types('\r');
    for (const person of [ann, bob]) {
      await person.sees('[answered after 1 step');
      expect(await screenOf(person)).toMatch(/you {2}one\n {11}two\n {13}three\n\nThree lines\./);
      expect(person.text).not.toContain('\x1b]0;');
      person.types('\x04');
      expect(await person.exits()).toBe(0);
    }
  }, 60_000);

  test('a script that waits for a person is named with the way to attach, and afterwards the chat is back', async () => {
    const code = 'name = input("who? ")\nprint("hello", name)';
    const model = files.model([
      { text: toolCall('execute_python_code', { code, interactive: true }) },
      { expect: 'exit code 0', text: 'It was confirmed.' },
    ]);
    const ann = chat('--agent', 'asked', '--model', model);
    await ann.sees('idle');
    ann.types('ask\r');
    await ann.sees('a script waits for a person');
    await ann.sees('holdfast attach --agent asked --session 98');
    ann.types('/attach\r');
    await ann.sees('who? ');
    await ann.sees('leaves]');
    ann.types('Ann\r');
    await ann.sees('[answered after 2 steps');
    ann.types('/help\r');
    await ann.sees('leave; the conversation continues');
    ann.types('/nonsense\r');
    await ann.sees('got /nonsense, allowed /interrupt, /attach');
    ann.types('/quit\r');
    expect(await ann.exits()).toBe(0);
  }, 60_000);

  test('what a turn did to files is seen and taken back in the chat, by the numbers that the chat shows', async () => {
    const folder = mkdtempSync(join(files.directory, 'rewound-'));
    const path = join(folder, 'plan.txt');
    const writes = (content: string): { text: string } => ({
      text: toolCall('write_file', { file_path: path, content }),
    });
    const replies = [writes('first\n'), { text: 'done' }, writes('second\n'), { text: 'again' }];
    const ann = chat('--agent', 'rewound', '--cwd', folder, '--model', files.model(replies));
    await ann.sees('idle');
    ann.types('/log\r');
    await ann.sees('It has no steps yet.');
    for (const [text, answer] of [
      ['write', 'done'],
      ['rewrite', 'again'],
    ] as const) {
      ann.types(`${text}\r`);
      await ann.sees(`\n${answer}`);
      await ann.sees('[answered after 2 steps');
      ann.text = '';
    }
    ann.types('/log\r');
    await ann.sees('1  turn 1');
    await ann.sees('3  turn 2');
    ann.types('/diff 3\r');
    await ann.sees('-first');
    await ann.sees('+second');
    ann.types('/rewind 1 everything\r');
    await ann.sees('got 1 everything, allowed a step, one of both, files, conversation, --force, --stop');
    ann.types('/rewind\r');
    await ann.sees('got none, allowed its number');
    expect(readFileSync(path, 'utf8')).toBe('second\n');
    ann.types('/rewind 1 files\r');
    await ann.sees('The files are as they were after step 1 again.');
    await ann.sees('`/rewind 4` undoes it');
    expect(readFileSync(path, 'utf8')).toBe('first\n');
    ann.types('/rewind 4\r');
    await ann.sees('The files are as they were after step 4 again.');
    expect(readFileSync(path, 'utf8')).toBe('second\n');
    ann.types('/stop\r');
    expect(await ann.exits()).toBe(0);
  }, 60_000);

  test('a conversation that was terminated is over: nobody is told how to come back to it', async () => {
    const ann = chat('--agent', 'doomed', '--model', files.model([{ text: 'unused' }]));
    await ann.sees('idle');
    await engine.client.temporal.workflow.getHandle('agent/doomed').terminate('too dear');
    expect(await ann.exits()).toBe(75);
    expect(ann.text).toContain('agent_ended');
    expect(ann.text).not.toContain('The conversation continues');
  }, 60_000);

  test('in a terminal without a size the status is as wide as in one of 80 columns', async () => {
    const person = new Person(
      engine.dataDir,
      ['--agent', 'sizeless', '--model', files.model([{ text: 'unused' }])],
      { command: 'chat', cwd: files.directory, shell: 'stty rows 0 cols 0; exec "$@"' },
    );
    people.push(person);
    await person.sees('sizeless  idle');
    person.types('/stop\r');
    expect(await person.exits()).toBe(0);
  }, 60_000);
});

describe('through a pipe', () => {
  test('each line is a message, only its answer is on stdout, and the exit code is that of the last failed turn', async () => {
    const replies = [
      { text: toolCall('code_execution_tool', { runtime: 'terminal', code: 'echo seen' }) },
      { text: 'first\x1b[31m answer' },
      { text: 'second answer' },
    ];
    const args = ['chat', '--agent', 'piped', '--model', files.model(replies)];
    expect(await hf(args, 'one\n\ntwo\n')).toEqual({
      code: 0,
      stdout: 'first answer\nsecond answer\n',
      stderr: '',
    });
    const failed = await hf(['chat', '--agent', 'piped', '--json'], 'three\n');
    expect(failed.code).toBeGreaterThan(63);
    expect(JSON.parse(failed.stdout)).toMatchObject({
      agent: 'piped',
      reason: 'model_error',
      error: { code: 'model_script_exhausted' },
    });
    expect(await stateOf('piped')).toMatchObject({ status: 'idle', turns: 3 });
  });

  test('a conversation without a given name ends with its input; without a model none begins', async () => {
    const { stdout } = await hf(['chat', '--model', files.model([{ text: 'once' }]), '--json'], 'hi\n');
    const { agent } = JSON.parse(stdout) as { agent: string };
    expect(await engine.client.agent(agent).result()).toMatchObject({ answer: 'once' });
    expect(await hf(['chat'], '')).toMatchObject({ code: 64 });
    expect((await hf(['chat', '--agent', 'nobody', '--resume'], '')).code).toBe(66);
  });

  test('a conversation without a given name ends at an error and with its reader, too; after Ctrl-C it is named with the command that ends it', async () => {
    const begun = ['chat', '--model', files.model([{ text: 'one' }, { text: 'two', delayMs: 600_000 }])];
    const failed = await hf(begun, `${'x'.repeat(600_000)}\n`);
    expect(failed.stderr).toContain('invalid_input');
    const listed = async (): Promise<string> => (await hf(['ps', '--json'])).stdout;
    await until(async () => !(await listed()).includes('agent/chat-'));
    const talk = (): { child: ChildProcess; ended: Promise<unknown>; told: () => string } => {
      const child = engine.spawnCli([...begun, '--data', engine.dataDir], 'pipe');
      let told = '';
      child.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()));
      child.stdin?.write('first\nsecond\n');
      return { child, ended: new Promise((resolve) => child.once('close', resolve)), told: () => told };
    };
    const unread = talk();
    unread.child.stdout?.destroy();
    expect(await unread.ended).toBe(141);
    expect(unread.told()).toBe('');
    await until(async () => !(await listed()).includes('agent/chat-'));
    const left = talk();
    left.child.stdout?.once('data', () => left.child.kill('SIGINT'));
    expect(await left.ended).toBe(130);
    const [, id = '', options] = /holdfast stop (\S+)( .*)`/.exec(left.told()) ?? [];
    expect(options).toBe(` --data ${engine.dataDir}`);
    expect((await hf(['stop', id])).code).toBe(0);
  }, 60_000);
});

test('a conversation that is resumed gets the remote host that is named; one that runs refuses another', async () => {
  const bound = ['chat', '--agent', 'bound', '--model', files.model([{ text: 'hi' }, { text: 'hi' }])];
  expect((await hf([...bound, '--remote-host', 'desk'], 'one\n')).code).toBe(0);
  const refused = await hf([...bound, '--remote-host', 'laptop'], 'two\n');
  expect(refused).toMatchObject({ code: 64, stdout: '' });
  expect(refused.stderr).toContain(
    'got laptop, allowed desk, to which bound is bound for as long as it runs',
  );
  expect((await hf([...bound, '--remote-host', 'desk'], '')).code).toBe(0);
  expect((await stateOf('bound')).settings.remoteHost).toBe('desk');
  await hf(['stop', 'bound']);
  expect((await hf([...bound, '--resume', '--remote-host', 'laptop'], '')).code).toBe(0);
  expect((await stateOf('bound')).settings.remoteHost).toBe('laptop');
  await hf(['stop', 'bound']);
}, 60_000);

test('a chat without a worker fails, and leaves behind neither an agent nor a message to answer later', async () => {
  const other = new EngineOfItsOwn();
  const { address } = await other.startServer();
  const model = files.model([{ text: 'Never.' }]);
  const args = ['chat', '--address', address, '--model', model];
  const failed = await other.cli(args, { input: 'hello\n' });
  expect(failed).toMatchObject({
    code: 69,
    stdout: '',
    stderr: expect.stringContaining('no_worker') as string,
  });
  const left = JSON.parse((await other.cli(['ps', '--json', '--address', address])).stdout) as unknown[];
  expect(await other.end()).toEqual([]);
  expect(left).toEqual([]);
}, 60_000);

test('send, fork, recover and stop do what they say, each with its JSON, and a wrong position names the right ones', async () => {
  const replies = [{ text: 'one' }, { text: 'two' }, { text: sleeping }, { expect: 'slept', text: 'three' }];
  const base = engine.client.agent('base');
  await base.start({ mode: 'conversation', model: files.model(replies), cwd: files.directory });
  await base.send('first');
  expect(await hf(['send', 'base', '-'], 'second\nline')).toMatchObject({ code: 0, stdout: 'two\n' });
  const wrong = await hf(['fork', 'base', 'base-2', '--at', '1']);
  expect(wrong.code).toBe(64);
  expect(wrong.stderr).toMatch(/0 is before "first"; 2 is before "second line"; 4 is the end/);
  expect(await hf(['fork', 'base', 'base-2', 'other', '--at', '2'])).toMatchObject({
    code: 0,
    stdout: 'two\n',
  });
  expect(await hf(['send', 'base', 'third', '--no-wait', '--json'])).toMatchObject({ code: 0 });
  await until(() => existsSync(join(files.directory, 'at-work')));
  const recovered = await hf(['recover', 'base', '--reason', 'it hangs', '--json']);
  expect(JSON.parse(recovered.stdout)).toMatchObject({ lastResult: { reason: 'recovered' } });
  expect(await hf(['stop', 'base', '--json'])).toMatchObject({
    code: 0,
    stdout: '{"agent":"base","stopped":true}\n',
  });
  expect((await hf(['chat', '--agent', 'base', '--resume', '--json'], 'still there?\n')).stdout).toContain(
    '"agent":"base"',
  );
});

test('tree shows sub-agents below their agent, with what they wait for and what they took', async () => {
  const usage = { inputTokens: 1_200, outputTokens: 30, costUsd: 0.0012 };
  const below = files.model([{ text: 'never', delayMs: 600_000 }]);
  const spawn = toolCall('spawn_agent', { role: 'Planner', prompt: 'plan', model: below });
  const model = files.model([
    { text: spawn, usage },
    { text: 'started', usage },
  ]);
  await engine.client.agent('parent').start({ mode: 'conversation', model, yield: QUICK_YIELD });
  const result: AgentResult = await engine.client.agent('parent').send('go');
  expect(result.answer).toBe('started');
  // Lists follow a moment later.
  const listed = async (): Promise<string> => (await hf(['tree', 'parent', '--json'])).stdout;
  await until(async () => (await listed()).includes('parent-planner-1/turn/1'));
  const { stdout } = await hf(['tree', 'parent']);
  expect(stdout).toMatch(
    /^agent\/parent {2}\w+ {2}idle after 1 turn; 2,400 tokens in, 60 out, \$0\.0024\n└─ agent\/parent-planner-1 \(Planner\) {2}\w+ {2}working: turn 1\n {3}└─ turn 1 {2}\w+ {2}(?:at work; waits for the model since \w+|between two steps)\n$/,
  );
  const rows = JSON.parse(await listed()) as { workflowId: string }[];
  expect(rows.map(({ workflowId }) => workflowId)).toEqual([
    'agent/parent',
    'agent/parent-planner-1',
    'agent/parent-planner-1/turn/1',
  ]);
  await engine.client.agent('parent').stop();
});
