// P1 to P10: what scripts that call tools may rely on, with real stubs in real terminals on a real server.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionHandle } from '../../../client/session-handle';
import { packageRoot } from '../../../system/package-root';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, QUICK_YIELD, scratch, uniqueId, type Scratch } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
let files: Scratch;
let sessions = 0;
let session: SessionHandle;
let folder: string;

beforeAll(async () => {
  files = scratch();
  await engine.start({ tools: [join(packageRoot(), 'tests', 'fixtures', 'script-tools.mjs')] });
}, 60_000);
afterAll(async () => {
  files.remove();
  expect(await engine.end()).toEqual([]);
}, 60_000);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-scripts-'));
  session = engine.client.session({ agent: 'scripts', session: sessions++ }, { cwd: folder });
});
afterEach(async () => {
  // Where the test has opened it.
  await session.close('the test has ended').then(
    () => session.closed(),
    () => undefined,
  );
  rmSync(folder, { recursive: true, force: true });
});

const fileOf = (name: string): string => {
  const path = join(folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};
/** What a script printed, when it has ended. */
async function printed(code: string, runtime: 'python' | 'nodejs' | 'terminal' = 'python'): Promise<string> {
  const head = runtime === 'python' ? 'import codex_tools, os\n' : '';
  const { output, state } = await session.exec({ runtime, code: head + code });
  expect(state).toBe('exited');
  return output.trim().replaceAll('\r', '');
}

test('one call from Python, Node (require and import) and the shell gives the same value', async () => {
  const value = { text: 'ünï "quoted" \\ \u2028', list: [1, 2.5, null, true], nested: { a: {} } };
  writeFileSync(join(folder, 'value.json'), JSON.stringify(value));
  const answers = [
    await printed('import json\nprint(json.dumps(codex_tools.echo(value=json.load(open("value.json")))))'),
    await printed(
      'const { echo } = require("codex-tools");\n' +
        'echo({ value: JSON.parse(require("fs").readFileSync("value.json", "utf8")) }).then((v) => console.log(JSON.stringify(v)))',
      'nodejs',
    ),
    await printed(
      'import { echo } from "codex-tools";\nimport { readFileSync } from "node:fs";\n' +
        'console.log(JSON.stringify(await echo({ value: JSON.parse(readFileSync("value.json", "utf8")) })))',
      'nodejs',
    ),
    await printed('tool echo --json "{\\"value\\": $(cat value.json)}"', 'terminal'),
  ];
  for (const answer of answers) expect(JSON.parse(answer.replaceAll('\n', ''))).toEqual(value);
});

test('help() and the signature of a function show its description, arguments and types', async () => {
  const help = await printed(
    'import inspect\nprint(inspect.signature(codex_tools.note))\nhelp(codex_tools.note)',
  );
  expect(help).toMatch(/\(folder: str, line: str\)/);
  expect(help).toContain('Writes a line, once for each call.');
});

test('a file or working folder whose name is not UTF-8 is refused, and no other one is made', async () => {
  const code = `
os.mkdir(b"caf\\xe9")
def tried(path):
    try:
        print(codex_tools.write_file(file_path=path, content="x", create_dirs=True))
    except codex_tools.ToolError as e:
        print(e.code, "half a character" in e.message, "The working folder" in e.message)
tried(os.fsdecode(b"caf\\xe9.txt"))
above = os.getcwd()
os.chdir(b"caf\\xe9")
tried("a.txt")
tried(above + "/b.txt")
print(os.listdir(b"."), sorted(os.listdir(os.fsencode(above))))`;
  expect((await printed(code)).split('\n')).toEqual([
    'invalid_input True False',
    'invalid_input False True',
    "{'bytes': 1}",
    "[] [b'b.txt', b'caf\\xe9']",
  ]);
});

test('calls work from threads, subprocesses, forks, pipes and a background job after the command has yielded', async () => {
  const code = `
import subprocess, sys, threading
note = lambda line: codex_tools.note(folder=os.getcwd(), line=line)
thread = threading.Thread(target=note, args=("thread",)); thread.start(); thread.join()
subprocess.run([sys.executable, "-c", "import codex_tools, os; codex_tools.note(folder=os.getcwd(), line='subprocess')"], check=True)
pid = os.fork()
if pid == 0:
    note("fork")
    os._exit(0)
os.waitpid(pid, 0)
print(note("itself"))`;
  expect(await printed(code)).toBe('noted itself');
  expect(await printed(`tool note --folder "$PWD" --line pipe | head -c 5`, 'terminal')).toBe('noted');
  const yielded = await session.exec({
    code: `(sleep 1; tool note --folder "$PWD" --line background) & wait`,
    yield: { ...QUICK_YIELD, firstOutputMs: 200 },
  });
  expect(yielded.state).toBe('running');
  expect((await session.output({ wait: 'exit', from: yielded.from })).output).toContain('noted background');
  expect(fileOf('notes').split('\n')).toEqual([
    'thread',
    'subprocess',
    'fork',
    'itself',
    'pipe',
    'background',
    '',
  ]);
}, 60_000);

test('a job that outlives its command may still call', async () => {
  await printed(`(sleep 0.5; tool note --folder "$PWD" --line late >/dev/null) &`, 'terminal');
  await until(() => fileOf('notes') === 'late\n');
});

test('two calls meet at a barrier, and each of ten threads gets its own answer', async () => {
  const code = `
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(10) as pool:
    print(list(pool.map(lambda _: codex_tools.meet(place="${uniqueId('p')}", count=2), range(2))))
    assert list(pool.map(lambda i: codex_tools.echo(value=i), range(10))) == list(range(10))`;
  expect(await printed(code)).toBe("['met', 'met']");
});

test('asyncio: gathered calls run at the same time', async () => {
  const place = uniqueId('p');
  const code = `
import asyncio
async def main():
    return await asyncio.gather(*(codex_tools.aio.meet(place="${place}", count=3) for _ in range(3)))
print(asyncio.run(main()))`;
  expect(await printed(code)).toBe("['met', 'met', 'met']");
});

test('more calls at once than the server takes updates: all are answered, and control messages pass them', async () => {
  const place = uniqueId('p');
  const running = session.exec({
    runtime: 'python',
    code: `import codex_tools
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(24) as pool:
    print(len(list(pool.map(lambda _: codex_tools.meet(place="${place}", count=24), range(24)))))`,
  });
  await until(async () => ((await session.state().catch(() => null))?.toolCalls.open.length ?? 0) >= 6);
  // An update, while as many calls as may be are open.
  expect((await session.output()).state).toBe('running');
  expect((await running).output).toContain('24');
}, 60_000);

test('a failure is an exception with code, message, retryable and call id; earlier prints survive', async () => {
  const code = `
print("before")
for fail in (lambda: codex_tools.refuse(), lambda: codex_tools.call("nothing", {})):
    try:
        fail()
    except codex_tools.ToolError as err:
        print(err.code, err.retryable, err.call_id, err.message)`;
  const lines = (await printed(code)).split('\n');
  expect(lines[0]).toBe('before');
  expect(lines.join('\n')).toMatch(/not_found False e1c1 The thing does not exist/);
  expect(lines.join('\n')).toMatch(/unknown_tool False e1c2 No tool has this name: got nothing/);
});

test('a bad argument names its JSON pointer, and costs no history', async () => {
  await printed('codex_tools.echo(value=1)');
  const before = await updates();
  const message = await printed(
    'try:\n  codex_tools.call("large", {"bytes": "many"})\nexcept codex_tools.ToolError as err:\n  print(err.code, err.message)',
  );
  expect(message.replaceAll('\n', '')).toMatch(/^invalid_input .*"\/bytes" /);
  // That of the command itself, and none for the call.
  expect((await updates()) - before).toBe(1);
});

async function updates(): Promise<number> {
  const { events } = await engine.client.temporal.workflow.getHandle(session.workflowId).fetchHistory();
  return (events ?? []).filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length;
}

test('arguments and results of 10 MB pass unharmed; too large a one fails only its call', async () => {
  const code = `
import hashlib
text = "é" * 5_000_000
print(codex_tools.echo(value=text) == text)
for too_large in (lambda: codex_tools.large(bytes=17_000_000), lambda: codex_tools.echo(value="x" * 17_000_000)):
    try:
        too_large()
    except codex_tools.ToolError as err:
        print(err.code)
print(hashlib.sha256(codex_tools.large(bytes=10_000_000).encode()).hexdigest())`;
  const hash = createHash('sha256').update('x'.repeat(10_000_000)).digest('hex');
  expect((await printed(code)).split('\n')).toEqual([
    'True',
    'result_too_large',
    'arguments_too_large',
    hash,
  ]);
  const history = await engine.client.temporal.workflow.getHandle(session.workflowId).describe();
  expect(Number(history.raw.workflowExecutionInfo?.historySizeBytes)).toBeLessThan(200_000);
}, 60_000);

test('an unawaited slow call is cancelled when its script ends', async () => {
  await printed(
    'import threading, time\n' +
      'threading.Thread(target=lambda: codex_tools.hang(folder=os.getcwd()), daemon=True).start()\n' +
      'while not os.path.exists("hangs"): time.sleep(0.01)',
  );
  await until(() => fileOf('cancelled') === 'x');
  await until(async () => (await session.state()).toolCalls.open.length === 0);
}, 60_000);

test('`ps` shows which tools the scripts of a session are at', async () => {
  const running = session.exec({
    runtime: 'python',
    code: 'import codex_tools, os\ncodex_tools.hang(folder=os.getcwd())',
  });
  running.catch(() => undefined);
  await until(() => fileOf('hangs') === 'x');
  expect((await engine.cliInTurn(['ps'])).stdout).toMatch(/running python, epoch 1, calls hang/);
  await session.reset({ reason: 'enough' });
  await running;
}, 60_000);

test('reset cancels the calls in flight, and a script of the older epoch cannot call', async () => {
  const running = session.exec({
    code: `printenv HOLDFAST_TOOL_TOKEN > token; exec python3 -c 'import codex_tools, os; codex_tools.hang(folder=os.getcwd())'`,
  });
  running.catch(() => undefined);
  await until(() => fileOf('hangs') === 'x');
  await session.reset({ reason: 'enough' });
  await until(() => fileOf('cancelled') === 'x');
  expect((await running).killedBy).toMatchObject({ by: 'reset', reason: 'enough' });
  const message = await printed('HOLDFAST_TOOL_TOKEN=$(cat token) tool echo --value 1 2>&1', 'terminal');
  expect(message).toContain('script_ended');
}, 60_000);

test('a call that would wait for its own script is refused as would_deadlock, also from a script in a script', async () => {
  const code = `
def tell(**args):
    try:
        return codex_tools.code_execution_tool(**args)
    except codex_tools.ToolError as err:
        return err.code
print(tell(runtime="terminal", session=${session.ref.session}, code="true"))
print(tell(runtime="reset", session=${session.ref.session}))
inner = "tool code_execution_tool --runtime terminal --session ${session.ref.session} --code true 2>&1 | grep -o would_deadlock"
print(tell(runtime="terminal", session=500, code=inner))`;
  const lines = (await printed(code)).split('\n');
  expect(lines.slice(0, 3)).toEqual(['would_deadlock', 'would_deadlock', 'would_deadlock']);
  await engine.client.session({ agent: 'scripts', session: 500 }).close('done');
}, 60_000);

test('nested scripts end at a depth that is stated', async () => {
  // Each level runs itself in the next session.
  writeFileSync(
    join(folder, 'deeper.py'),
    `import codex_tools, sys
n = int(sys.argv[1])
try:
    print(codex_tools.code_execution_tool(runtime="terminal", session=n, code=f"cd ${folder} && python3 deeper.py {n + 1}"))
except codex_tools.ToolError as err:
    print("ended at", n, err.code)`,
  );
  expect(await printed('python3 deeper.py 600', 'terminal')).toContain('ended at 603 call_depth');
  for (const session of [600, 601, 602])
    await engine.client.session({ agent: 'scripts', session }).close('done');
}, 60_000);

test('scripts call what their agent may, and no more often', async () => {
  const agent = engine.client.agent(uniqueId('limited'));
  const script = `
import codex_tools
def tell(f):
    try:
        return f()
    except codex_tools.ToolError as err:
        return err.code
print([tell(lambda: codex_tools.echo(value=i)) for i in range(4)], tell(lambda: codex_tools.large(bytes=1)))`;
  await agent.start({
    task: 'x',
    tools: ['code_execution_tool', 'echo'],
    limits: { toolCalls: 4 },
    model: files.model([
      { text: call('code_execution_tool', { runtime: 'python', code: script }) },
      { text: call('large', { bytes: 1 }) },
      { text: 'done' },
    ]),
  });
  await agent.result();
  const { messages } = await agent.transcript();
  const [byScript, byModel] = messages.flatMap((message) =>
    message.role === 'tool' ? [message.content] : [],
  );
  // The call of the model that ran the script counts, too.
  expect(byScript).toContain("[0, 1, 2, 'budget_exceeded'] tool_not_allowed");
  expect(byModel).toMatch(/^Error tool_not_allowed: .*got large, allowed code_execution_tool, echo/);
}, 60_000);

test('each call is an activity of the session with its tool and arguments in the summary', async () => {
  await printed('codex_tools.echo(value="seen")');
  const { events } = await engine.client.temporal.workflow.getHandle(session.workflowId).fetchHistory();
  const summaries = (events ?? []).flatMap(({ userMetadata }) =>
    userMetadata?.summary?.data ? [Buffer.from(userMetadata.summary.data).toString()] : [],
  );
  expect(summaries).toContainEqual(expect.stringContaining('script: echo'));
});

test('output that looks like a call calls nothing and is shown as it is', async () => {
  const line = '<<TOOL_CALL>>{"tool":"note","args":{"folder":"/tmp","line":"x"}}<<END_TOOL_CALL>>';
  writeFileSync(join(folder, 'look-alikes'), `${line}\n`.repeat(50));
  expect((await printed('cat look-alikes', 'terminal')).split('\n')).toEqual(Array(50).fill(line));
  expect((await session.state()).toolCalls).toMatchObject({ made: 0 });
});

test('what the user has put on PYTHONPATH, NODE_PATH and PATH stays there, after the stubs', async () => {
  const code = 'export PYTHONPATH=/user/python NODE_PATH=/user/node; true';
  await printed(code, 'terminal');
  const [python = '', node = '', path = ''] = (
    await printed('printf "%s\\n" "$PYTHONPATH" "$NODE_PATH" "$PATH"', 'terminal')
  ).split('\n');
  expect(python).toMatch(/^\/.*\/python:\/user\/python$/);
  expect(node).toMatch(/^\/.*\/node:\/user\/node$/);
  expect(path.split(':').at(-1)).toMatch(/\/bin$/);
});
