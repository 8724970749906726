// codex_tools.py under threads, forks, processes and asyncio; large values; calls that are given up.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SeenCall } from '../../../helpers/tools/tool-socket';
import { describedTool, finished, objectOf, PYTHON, StubSession } from '../../../helpers/tools/stub-session';
import { until } from '../../../helpers/until';

const TOOLS = [
  describedTool({ name: 'echo', parameters: objectOf({ value: {} }, ['value']), result: {} }),
  describedTool({ name: 'meet', parameters: objectOf({ count: { type: 'integer' } }, ['count']) }),
  describedTool({ name: 'never' }),
];

/** `meet` answers once `count` calls of it wait; `never` does not answer. */
function answering(): (call: SeenCall) => unknown {
  let waiting: (() => void)[] = [];
  return ({ tool, args }) => {
    if (tool === 'echo') return args.value;
    return new Promise((resolve) => {
      if (tool === 'never') return;
      waiting.push(() => resolve('met'));
      if (waiting.length < Number(args.count)) return;
      for (const go of waiting) go();
      waiting = [];
    });
  };
}

let session: StubSession;
beforeEach(async () => {
  session = await StubSession.start(TOOLS, answering());
});
afterEach(() => session.close());

test('ten threads each get their own answer', async () => {
  expect(
    await session.pythonJson(`
import json, codex_tools
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(10) as pool:
    print(json.dumps(list(pool.map(lambda n: codex_tools.echo({"tag": n}), range(200)))))
`),
  ).toEqual(Array.from({ length: 200 }, (_, tag) => ({ tag })));
});

test('two calls of two threads meet at a barrier', async () => {
  expect(
    await session.pythonJson(`
import json, codex_tools
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool:
    print(json.dumps(list(pool.map(codex_tools.meet, [2, 2]))))
`),
  ).toEqual(['met', 'met']);
});

test('a fork calls by itself, also while its parent waits for a call', async () => {
  const { stdout } = await session.python(`
import os, threading, codex_tools
codex_tools.echo("loaded")
thread = threading.Thread(target=lambda: print("parent", codex_tools.meet(2), flush=True))
thread.start()
child = os.fork()
if child == 0:
    print("child", codex_tools.meet(2), flush=True)
    os._exit(0)
os.waitpid(child, 0)
thread.join()
`);
  expect(stdout.trim().split('\n').sort()).toEqual(['child met', 'parent met']);
});

test.each(['fork', 'spawn'])('processes of multiprocessing call in parallel: %s', async (method) => {
  expect(
    await session.pythonJson(`
import json, multiprocessing, codex_tools
if __name__ == "__main__":
    with multiprocessing.get_context("${method}").Pool(2) as pool:
        print(json.dumps(pool.map(codex_tools.meet, [2, 2], 1)))
`),
  ).toEqual(['met', 'met']);
});

test('asyncio calls run in parallel, each with its own answer, more than the socket queues', async () => {
  expect(
    await session.pythonJson(`
import asyncio, json, codex_tools
async def main():
    met = await asyncio.gather(*(codex_tools.aio.meet(count=3) for _ in range(3)))
    tags = await asyncio.gather(*(codex_tools.aio.echo(n) for n in range(700)))
    print(json.dumps([met, tags == list(range(700))]))
asyncio.run(main())
`),
  ).toEqual([['met', 'met', 'met'], true]);
});

test('a cancelled task closes its connection, and the others continue', async () => {
  const { stdout } = await session.python(`
import asyncio, codex_tools
async def main():
    task = asyncio.create_task(codex_tools.aio.never())
    await codex_tools.aio.echo(1)
    while not task.done():
        await asyncio.sleep(0)
        task.cancel()
    print(task.cancelled(), await codex_tools.aio.echo("after"))
asyncio.run(main(), debug=True)
`);
  expect(stdout.trim()).toBe('True after');
  const never = session.socket.calls.filter(({ tool }) => tool === 'never');
  await until(() => never.every(({ isCancelled }) => isCancelled));
});

test('a time limit of asyncio cancels the call that passed it', async () => {
  const { stderr } = await session.python(`
import asyncio, codex_tools
asyncio.run(asyncio.wait_for(codex_tools.aio.never(), 0.3))
`);
  expect(stderr).toContain('TimeoutError');
  await until(() => session.socket.calls[0]?.isCancelled === true);
});

test('Ctrl-C ends a blocked call and closes its connection, though a forked child holds it too', async () => {
  const file = join(session.folder, 'script.py');
  writeFileSync(
    file,
    `
import os, signal, codex_tools
def fork(*_):
    child = os.fork()
    if child == 0:
        os.close(1)
        os.close(2)
        while True:
            signal.pause()
    print(child, flush=True)
signal.signal(signal.SIGUSR1, fork)
try:
    codex_tools.never()
except KeyboardInterrupt:
    print("interrupted", flush=True)
    os._exit(0)
`,
  );
  const script = session.spawn(PYTHON, [file]);
  const ran = finished(script);
  await until(() => session.socket.calls.length === 1);
  script.kill('SIGUSR1');
  const [forked] = (await once(script.stdout!, 'data')) as [string];
  script.kill('SIGINT');
  try {
    expect((await ran).stdout).toContain('interrupted');
    await until(() => session.socket.calls[0]?.isCancelled === true);
  } finally {
    process.kill(Number(forked), 'SIGKILL');
  }
});

test('arguments and results of 10 MB pass', async () => {
  expect(
    await session.pythonJson(`
import asyncio, json, codex_tools
text = "0123456789" * 1_000_000
print(json.dumps([codex_tools.echo(text) == text, asyncio.run(codex_tools.aio.echo(text)) == text]))
`),
  ).toEqual([true, true]);
});

test('arguments above 16 MiB fail only that call, before anything is sent', async () => {
  expect(
    await session.pythonJson(`
import json, codex_tools
try:
    codex_tools.echo("x" * (16 * 1024 * 1024))
except codex_tools.ToolError as error:
    print(json.dumps([error.code, error.retryable, codex_tools.echo("after")]))
`),
  ).toEqual(['arguments_too_large', false, 'after']);
  expect(session.socket.calls).toHaveLength(1);
});

test('a time limit that the script sets for its own sockets does not end a call', async () => {
  expect(
    await session.pythonJson(`
import json, socket, threading, codex_tools
socket.setdefaulttimeout(0.05)
result = []
first = threading.Thread(target=lambda: result.append(codex_tools.meet(2)))
first.start()
first.join(0.5)
result.append(codex_tools.meet(2))
first.join()
print(json.dumps(result))
`),
  ).toEqual(['met', 'met']);
});
