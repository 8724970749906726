// Calls of scripts that are large, slow, refused or cancelled: each is answered, and none brings its worker down.
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionHandle } from '../../../client/session-handle';
import { packageRoot } from '../../../system/package-root';
import { runningWorker } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
let sessions = 0;
let session: SessionHandle;
let folder: string;

beforeAll(async () => {
  await engine.start({ tools: [join(packageRoot(), 'tests', 'fixtures', 'script-tools.mjs')] });
}, 60_000);
afterAll(async () => {
  expect(await engine.end()).toEqual([]);
}, 60_000);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-scripts-'));
  session = engine.client.session({ agent: 'hard', session: sessions++ }, { cwd: folder });
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
const filesBelow = (path: string): number =>
  readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
/** What a script printed, when it has ended. */
async function printed(code: string): Promise<string> {
  const { output, state } = await session.exec({
    runtime: 'python',
    code: `import codex_tools, os\n${code}`,
  });
  expect(state).toBe('exited');
  return output.trim().replaceAll('\r', '');
}

test('calls that together are larger than a frame are all answered, by the same worker', async () => {
  const worker = runningWorker(engine.dataDir)?.identity;
  const code = `
from concurrent.futures import ThreadPoolExecutor
texts = [str(i) * 6_000_000 for i in range(6)]
with ThreadPoolExecutor(6) as pool:
    print(list(pool.map(lambda text: codex_tools.echo(value=text) == text, texts)))`;
  expect(await printed(code)).toBe(`[${Array(6).fill('True').join(', ')}]`);
  expect(runningWorker(engine.dataDir)?.identity).toEqual(worker);
  // Nothing of them is left when no call needs it any more.
  await until(() => filesBelow(join(engine.dataDir, 'blobs')) === 0);
}, 60_000);

test('arguments that the disk does not take fail their call, which does not hang', async () => {
  const blobs = join(engine.dataDir, 'blobs');
  if (existsSync(blobs)) renameSync(blobs, `${blobs}.away`);
  writeFileSync(blobs, 'in the way');
  try {
    const code = `
try:
    codex_tools.echo(value="x" * 100_000)
except codex_tools.ToolError as err:
    print(err.code)`;
    expect(await printed(code)).toBe('storage_failed');
  } finally {
    rmSync(blobs);
    if (existsSync(`${blobs}.away`)) renameSync(`${blobs}.away`, blobs);
  }
}, 60_000);

test('the session is told of every answered call, even if a call in between was refused, and of no other', async () => {
  const code = `
def tell(f):
    try:
        f()
    except codex_tools.ToolError as err:
        print(err.code)
for i in range(3):
    codex_tools.echo(value=i)
    tell(lambda: codex_tools.large(bytes=1))
    tell(lambda: codex_tools.call("nothing", {}))
codex_tools.echo(value="last")`;
  const tools = { allowed: ['echo'] };
  const ended = await session.exec({ runtime: 'python', code: `import codex_tools${code}`, tools });
  expect(ended.exitCode).toBe(0);
  const { events } = await engine.client.temporal.workflow.getHandle(session.workflowId).fetchHistory();
  const answered = (events ?? []).flatMap(({ workflowExecutionUpdateAcceptedEventAttributes: update }) => {
    const data = update?.acceptedRequest?.input?.args?.payloads?.[0]?.data ?? Buffer.from('{}');
    return (JSON.parse(Buffer.from(data).toString()) as { answered?: string[] }).answered ?? [];
  });
  expect(answered).toEqual(['e1c1', 'e1c4', 'e1c7']);
}, 60_000);

test('a call that takes long is answered at its end, and not at that of another that takes longer', async () => {
  const code = `
import threading, time
threading.Thread(target=lambda: codex_tools.hang(folder=os.getcwd()), daemon=True).start()
while not os.path.exists("hangs"): time.sleep(0.01)
# By then its caller waits for results.
time.sleep(6)
threading.Thread(target=lambda: (time.sleep(4), open("ready", "w").close())).start()
began = time.time()
print(codex_tools.appears(path=os.path.join(os.getcwd(), "ready")), time.time() - began < 20)`;
  expect(await printed(code)).toBe('there True');
}, 60_000);

test('a call whose tool takes more than its time ends, and says whether its effect is known', async () => {
  const code = `
try:
    codex_tools.late(folder=os.getcwd())
except codex_tools.ToolError as err:
    print(err.code, "500 ms" in err.message)`;
  expect(await printed(code)).toBe('unknown_outcome True');
  expect(fileOf('late')).toBe('x');
}, 60_000);

test('a cancellation that arrives before its call keeps the call from running', async () => {
  await printed('codex_tools.echo(value=1)');
  await session.cancelTools({ ids: ['e1c9'], reason: 'nobody waits' });
  const answer = await session.callTool({
    id: 'e1c9',
    commandId: 'any',
    tool: 'fire',
    args: { folder, ms: 0 },
    cwd: folder,
    effects: 'once',
    runsOn: 'anywhere',
    timeoutMs: 1_000,
  });
  expect(answer).toMatchObject({ pending: false, outcome: { error: { code: 'call_cancelled' } } });
  expect(fileOf('fired')).toBe('');
});
