// A session whose history grows by what its calls return, not by their number: it continues as new before the server
// would end it, whatever holds it back.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionHandle } from '../../../client/session-handle';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const engine = new EngineOfItsOwn();
const files = scratch();
const PATIENT = { firstOutputMs: 600_000, betweenOutputMs: 600_000, maxMs: 600_000 };
const PAGE_BYTES = 128 * 1024;

beforeAll(async () => {
  engine.configure('[policy.tools]\nwrite_file = "ask"\n');
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

function newSession(): SessionHandle {
  const ref = { agent: uniqueId('large'), host: 'local', session: 0 };
  return engine.client.session(ref, { cwd: files.directory });
}

interface Run {
  id: string;
  status: string;
  bytes: number;
}

/** The run that is open, or the last one. */
async function runOf({ workflowId }: SessionHandle): Promise<Run> {
  const { runId, status, historySize } = await engine.client.temporal.workflow
    .getHandle(workflowId)
    .describe();
  return { id: runId, status: status.name, bytes: historySize ?? 0 };
}

/** Reads pages of the output until the session has continued as new; resolves with the bytes of the run before. */
async function readUntilNext(session: SessionHandle, mostPages: number): Promise<number> {
  let before = await runOf(session);
  for (let page = 0; page < mostPages; page++) {
    await session.output({ from: 0, maxBytes: PAGE_BYTES });
    const now = await runOf(session);
    expect(now.status).toBe('RUNNING');
    if (now.id !== before.id) return before.bytes;
    before = now;
  }
  throw new Error(`still in the same run, with ${before.bytes} bytes`);
}

test('a caller that waits for its command does not keep a session from continuing as new before its history is too large', async () => {
  const session = newSession();
  await session.exec({ code: `head -c 200000 /dev/zero | tr '\\0' x` });
  const running = session.exec({
    code: 'until [ -e first ]; do sleep 0.05; done; echo done',
    yield: PATIENT,
  });
  expect(await readUntilNext(session, 200)).toBeLessThan(20_000_000);
  writeFileSync(join(files.directory, 'first'), '');
  expect(await running).toMatchObject({ state: 'exited', output: 'done\n' });
  await session.close('the test has ended');
}, 120_000);

test('nor does a call of a script that waits for hours, and it is answered in the next run', async () => {
  const session = newSession();
  await session.exec({ code: `head -c 200000 /dev/zero | tr '\\0' x` });
  const file = join(files.directory, 'second');
  const code = `import codex_tools\nprint(codex_tools.write_file(file_path=${JSON.stringify(file)}, content="w"))`;
  const running = session.exec({ runtime: 'python', code, yield: PATIENT });
  const waiting = (): Promise<unknown[]> => engine.client.approvals.of(session.workflowId);
  await until(async () => (await waiting()).length > 0);
  expect(await readUntilNext(session, 300)).toBeLessThan(35_000_000);
  await until(async () => (await waiting()).length > 0);
  expect(existsSync(file)).toBe(false);
  await engine.client.approvals.approve(session.workflowId);
  expect(await running).toMatchObject({ state: 'exited', exitCode: 0 });
  expect(existsSync(file)).toBe(true);
  await session.close('the test has ended');
}, 120_000);
