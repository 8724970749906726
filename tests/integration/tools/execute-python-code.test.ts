// execute_python_code with real packages, real terminals and people at them.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { AgentHandle } from '../../../client/agents/agent-handle';
import { scriptSessions } from '../../../contracts/agents/script-sessions';
import type { ToolContext } from '../../../tools/tool';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { longTest } from '../../helpers/run/long-run';
import { Person } from '../../helpers/terminals/person';
import { findPackages, pathWithoutUv, putUv } from '../../helpers/tools/python-packages';
import { call, scratch, type Scratch } from '../../helpers/engines/temporal';
import { toolOnHost, type ToolOnHost } from '../../helpers/tools/tool-call';
import { until } from '../../helpers/until';

const tried = mkdtempSync(join(tmpdir(), 'holdfast-uv-'));
const { uv, missing } = findPackages(tried);
const whereInstalled = missing === null ? describe : describe.skip;
const why = missing === null ? '' : ` (not checked: ${missing})`;

const engine = new EngineOfItsOwn();
/** First on the PATH of all sessions, and empty until uv is added. */
const programs = join(engine.dataDir, 'programs');
const home = join(engine.dataDir, 'home');
const env = { HOME: home, PATH: [programs, pathWithoutUv()].join(delimiter) };
let files: Scratch;
let cwd: string;
let tool: ToolOnHost;

beforeAll(async () => {
  files = scratch();
  tool = toolOnHost('execute_python_code');
  cwd = mkdtempSync(join(tmpdir(), 'holdfast-python-'));
  for (const folder of [programs, home]) mkdirSync(folder);
  await engine.startServer();
  await engine.startWorker({ env });
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  tool.remove();
  for (const folder of [cwd, tried]) rmSync(folder, { recursive: true, force: true });
  expect(left).toEqual([]);
}, 60_000);

const text = (...lines: string[]): string => lines.join('\n');
let keys = 0;
/** What the model reads of a call. */
async function run(args: object, changes: Partial<ToolContext> = {}): Promise<string> {
  const { client } = engine;
  const context = { client, agent: 'scripts', settings: { cwd }, key: `key-${++keys}`, host: null };
  return (await tool.result({ ...args }, { ...context, ...changes })).content;
}
const inFolder = (name: string): string => readFileSync(join(cwd, name), 'utf8');

describe('a script without packages', () => {
  test('is a program: its own main module and path, imports from its folder, an exit code, nothing echoed', async () => {
    writeFileSync(join(cwd, 'beside.py'), 'ANSWER = "of the folder"\n');
    const code = text(
      'import os, sys, beside',
      'if __name__ == "__main__":',
      '    print(beside.ANSWER, sys.argv == [__file__], os.path.isfile(__file__))',
      `print("'" + '"', "$HOME \\\\ naïve 日本")`,
      '1 + 1',
      'sys.exit(7)',
    );
    expect(await run({ code })).toMatch(
      /^of the folder True True\n'" \$HOME \\ naïve 日本\n\[exit code 7; session 98\d{4}, offset \d+\]$/,
    );
  });

  test('has the lines of its code in a traceback, and no frame of the runner', async () => {
    const output = await run({ code: text('# a comment', 'def f():', '    return 1 / 0', '', 'f()') });
    expect(output).toMatch(
      /^Traceback.*\n {2}File "\S+\.py", line 5, in <module>\n {4}f\(\)\n {2}File "\S+", line 3, in f\n {4}return 1 \/ 0\n/,
    );
    expect(output).toContain('ZeroDivisionError: division by zero\n[exit code 1; ');
    expect(output).not.toMatch(/run-python|prepare-script/);
  });

  test('that asks is looked at and answered in the session that the answer names', async () => {
    const asking = await run({ code: 'print("got", input("name? "))' });
    const [, number] = /^name\? \n?\[waiting for input; session (\d+), /.exec(asking) ?? [asking];
    expect(asking).toContain('stop it with code_execution_tool, runtime "reset"');
    const session = engine.client.session({ agent: 'scripts', session: Number(number) });
    expect(await session.input({ keyboard: 'Ann' })).toMatchObject({
      output: 'Ann\ngot Ann\n',
      exitCode: 0,
    });
  });

  test('runs in parallel with the others of its block: none is refused as busy', async () => {
    const meets = (mine: string, other: string): object => ({
      code: text(
        'import os, time',
        `open("${mine}", "w").close()`,
        `while not os.path.exists("${other}"): time.sleep(0.01)`,
        'print("met")',
      ),
    });
    const both = await Promise.all([run(meets('a', 'b')), run(meets('b', 'a'))]);
    for (const result of both) expect(result).toMatch(/^met\n\[exit code 0; /);
  });

  test('whose session is taken runs in the next one, where a second attempt finds it and runs nothing', async () => {
    const key = 'taken';
    const [first = 0, second = 0] = scriptSessions(key);
    const taken = engine.client.session({ agent: 'scripts', session: first });
    await taken.exec({ code: 'sleep 600', yield: { firstOutputMs: 0 } });
    const code = 'open("ran", "a").write("ran\\n")\nprint("here")';
    const result = await run({ code }, { key });
    expect(result).toMatch(new RegExp(`^here\n\\[exit code 0; session ${second},`));
    await taken.reset();
    expect(await run({ code }, { key, attempt: 2 })).toBe(result);
    expect(inFolder('ran')).toBe('ran\n');
  });

  test('that names no packages, but something else, is refused with the line before anything runs', async () => {
    const result = await run({ code: '# about\n# dependencies = ["six", 3]\nopen("never", "w")' });
    expect(result).toMatch(
      /^Error invalid_input: Line 2 of "code" is invalid: got 3, allowed a list of packages/,
    );
    expect(existsSync(join(cwd, 'never'))).toBe(false);
  });
});

const NEEDS_SIX = '# dependencies = ["six"]';
const PEP_723 = text(
  '# /// script',
  '# requires-python = ">=3.8"',
  '# dependencies = [',
  '#   "six",',
  '# ]',
  '# ///',
);
const NOT_THERE = '# dependencies = ["six", "holdfast-has-no-such-package>=9"]';
const patient: Partial<ToolContext> = {};

whereInstalled(`a script that names packages${why}`, () => {
  beforeAll(() => {
    patient.settings = { cwd, yield: { firstOutputMs: 600_000, betweenOutputMs: 600_000 } };
  });
  const venvs = (): string[] => readdirSync(join(home, '.cache', 'holdfast', 'python'));

  test('gets them from pip in a venv that is made once, even when two ask for it at the same time', async () => {
    const code = text(
      NEEDS_SIX,
      'import six, codex_tools, os',
      'print(six.__name__, codex_tools.list_dir()["total"] > 0)',
    );
    const both = await Promise.all([run({ code }, patient), run({ code }, patient)]);
    for (const result of both) expect(result).toMatch(/(^|\n)six True\n\[exit code 0; /);
    expect(both.filter((result) => result.startsWith('Installing six\n'))).toHaveLength(1);
    expect(await run({ code }, patient)).toMatch(/^six True\n/);
  }, 60_000);

  test('never gets a venv that was left half made', async () => {
    const [made = ''] = venvs().filter((name) => !name.endsWith('.lock'));
    const folder = join(home, '.cache', 'holdfast', 'python', made);
    rmSync(join(folder, 'made'));
    // Its programs are links to those of the machine: nothing may be written there.
    rmSync(join(folder, 'lib'), { recursive: true });
    const result = await run({ code: text(NEEDS_SIX, 'import six; print("whole")') }, patient);
    expect(result).toMatch(/^Installing six\nwhole\n\[exit code 0; /);
  }, 60_000);

  test('does not run if pip cannot install one of them: it says which one', async () => {
    const result = await run({ code: text(NOT_THERE, 'open("never", "w")') }, patient);
    expect(result).toContain('No matching distribution found for holdfast-has-no-such-package>=9');
    expect(result).toMatch(/\ndependencies_failed: [^\n]*so the script was not run\.[^\n]*\n\[exit code 1; /);
    expect(existsSync(join(cwd, 'never'))).toBe(false);
  }, 60_000);

  test('gets them from uv if the session has it, once, also through a PEP 723 block', async () => {
    putUv(uv ?? '', programs);
    const before = venvs();
    const code = text(
      PEP_723,
      'import six, sys, codex_tools',
      'print(six.__name__, codex_tools.list_dir()["total"] > 0, ".cache/uv" in sys.prefix)',
    );
    expect(await run({ code }, patient)).toMatch(/Installed 1 package.*\nsix True True\n\[exit code 0; /);
    expect(await run({ code }, patient)).toMatch(/^six True True\n\[exit code 0; /);
    expect(venvs()).toHaveLength(before.length + 1);
    const missing = await run({ code: text(NOT_THERE, 'open("never", "w")') }, patient);
    expect(missing).toContain('holdfast-has-no-such-package was not found');
    expect(missing).toMatch(/\ndependencies_failed: [^\n]*\n\[exit code 1; /);
    expect(existsSync(join(cwd, 'never'))).toBe(false);
  }, 60_000);
});

const ASKS = text(
  'print("secret word?")',
  'word = input()',
  'print("heard", len(word))',
  'raise SystemExit(3)',
);

describe('an interactive script', () => {
  let agents = 0;
  /** Its session, when the script waits for a person. */
  async function begun(): Promise<{ agent: AgentHandle; id: string; session: number }> {
    const id = `person-${++agents}`;
    const agent = engine.client.agent(id);
    const asks = call('execute_python_code', { code: ASKS, interactive: true });
    await agent.start({ task: 'x', model: files.model([{ text: asks }, { text: 'done' }]), cwd });
    let session: number | undefined;
    await until(async () => {
      const { stdout } = await engine.cliInTurn(['ps', '--json']);
      const work = JSON.parse(stdout) as { workflowId: string; waits: unknown }[];
      const own = work.find(({ workflowId, waits }) => waits && workflowId.startsWith(`exec/${id}/local/`));
      session = own && Number(own.workflowId.split('/').at(-1));
      return session !== undefined;
    });
    return { agent, id, session: session ?? 0 };
  }
  async function results(agent: AgentHandle): Promise<string[]> {
    expect(await agent.result()).toMatchObject({ answer: 'done' });
    const { messages } = await agent.transcript();
    return messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
  }
  const CONFIRMATION = [
    expect.stringMatching(
      /^The user's session with the script has ended\. Its output and input are not part of this result\.\n\[exit code 3; session \d+, offset \d+\]$/,
    ),
  ];

  test('is for a person: their keys reach it, and the model gets only its end and exit code', async () => {
    const { agent, id, session } = await begun();
    const person = new Person(engine.dataDir, ['--agent', id, '--session', String(session)]);
    await person.sees('secret word?');
    person.types('swordfish\r');
    await person.sees('heard 9');
    expect(await person.exits()).toBe(0);
    expect(await results(agent)).toEqual(CONFIRMATION);
  }, 60_000);

  longTest(
    'outlives SIGKILL of the worker: the person continues, and the model gets its exit code once',
    async () => {
      const { agent, id, session } = await begun();
      const person = new Person(engine.dataDir, ['--agent', id, '--session', String(session)]);
      await person.sees('secret word?');
      await engine.killWorker();
      person.types('swordfish\r');
      await person.sees('heard 9');
      await engine.startWorker({ env });
      expect(await results(agent)).toEqual(CONFIRMATION);
      expect(await person.exits()).toBe(0);
      expect(person.text.match(/heard/g)).toHaveLength(1);
    },
    60_000,
  );

  test('shows the model its transcript if the configuration says so', async () => {
    engine.configure('[tools]\ninteractive_transcript = true\n');
    await engine.killWorker();
    await engine.startWorker({ env });
    const { agent, id, session } = await begun();
    await engine.client.session({ agent: id, session }).input({ keyboard: 'swordfish' });
    const [result] = await results(agent);
    expect(result).toContain('secret word?\nswordfish\nheard 9\n[exit code 3; ');
  }, 60_000);
});
