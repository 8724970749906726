// Typing around the start and the end of a command, in a holder's session in this process.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentHash } from '../../../../exec/command-records';
import { Attachments } from '../../../../exec/holder/attachments';
import { Session } from '../../../../exec/holder/session';
import { sessionEnvironment } from '../../../../exec/host/session-environment';
import { detectTreeKill } from '../../../../exec/processes/process-tree';
import type { Snapshot } from '../../../../exec/protocol';
import { sessionPaths, type SessionPaths } from '../../../../exec/session-paths';
import { makeFolder } from '../../../../system/make-folder';

const { signal } = new AbortController();
const NOTHING_RUNS = { code: 'no_running_process' };

let dataDir: string;
let paths: SessionPaths;
let session: Session;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-typing-'));
  paths = sessionPaths(dataDir, { agent: 'test', host: 'local', session: 0 });
  makeFolder(paths.directory);
  const env = sessionEnvironment(process.env);
  const treeKill = detectTreeKill();
  const config = { session: 0, socketPath: join(dataDir, 'socket'), token: 'x', cwd: dataDir, env, treeKill };
  session = new Session(config, paths, undefined);
});
afterEach(async () => {
  await session.reset({ id: 'end', reason: null, by: 'reset' });
  rmSync(dataDir, { recursive: true, force: true });
});

const run = (code: string, id: string): Promise<Snapshot> =>
  session.run({ id, runtime: 'terminal', code, contentHash: contentHash('terminal', code) });
const input = (id: string): Promise<unknown> => session.input({ id, text: id, keys: [] });
const isOver = async (): Promise<boolean> =>
  (await session.observe({ kind: 'exit', from: 0, timeoutMs: 30_000 }, signal)).reason === 'exit';

/** Without a turn of the event loop: bash has not said that it is ready. */
async function untilAccepted(): Promise<void> {
  while (!session.isRunning) await Promise.resolve();
}

test('what is typed as soon as a command runs reaches it, though unread input of the command before is discarded', async () => {
  await run('read -r first; sleep 0.5', 'one');
  await input('first');
  await input('unread');
  expect(await isOver()).toBe(true);
  await run('read -r line; [ "$line" = second ]', 'two');
  await input('second');
  expect(await isOver()).toBe(true);
  expect(session.snapshot().command).toMatchObject({ id: 'two', exitCode: 0 });
});

describe('a command that cannot be started', () => {
  /** No file can be written there. */
  const inTheWay = (): string => join(paths.directory, 'epoch-1', '1');

  test('refuses what was typed meanwhile, and the next command gets none of it', async () => {
    const starting = run('echo never', 'one');
    await untilAccepted();
    mkdirSync(inTheWay());
    const typed = input('early');
    session.typeRaw(Buffer.from('raw'));
    await expect(starting).rejects.toThrow('EISDIR');
    await expect(typed).rejects.toMatchObject(NOTHING_RUNS);
    await run('read -r line; [ "$line" = late ]', 'two');
    await input('late');
    expect(await isOver()).toBe(true);
    expect(session.snapshot().command).toMatchObject({ id: 'two', exitCode: 0 });
  });

  test('is not running for people who watch', async () => {
    const attachments = new Attachments(session, 0);
    const starting = run('echo never', 'one');
    await untilAccepted();
    mkdirSync(inTheWay());
    const { end, ...seen } = attachments.attach({ typist: null, size: null }, signal);
    expect(seen.running).toBe('one');
    const news = attachments.watch({ from: end, seen }, signal);
    await expect(starting).rejects.toThrow('EISDIR');
    expect(await news).toMatchObject({ running: null });
  });
});
