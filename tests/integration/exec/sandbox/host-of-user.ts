// A session host in a process of another user: what holds for a host that is not root. Only root can start one.
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Snapshot } from '../../../../exec/protocol';
import type { TreeKill } from '../../../../contracts/sessions/session';
import type { TestSandbox } from '../../../helpers/hosts/sandbox';

const DIST = join(__dirname, '..', '..', '..', '..', 'dist');
/** The user `nobody`, with whatever id. */
export const NOBODY = 65_534;

/** Calls methods of the host that arrive as lines of JSON, one after the other. */
const SERVE = `
  const [dist, dataDir, cwd, treeKill, home, settings] = process.argv.slice(1);
  const { SessionHost } = require(dist + '/exec/host/session-host.js');
  const { detectTreeKill } = require(dist + '/exec/processes/process-tree.js');
  const { sessionEnvironment } = require(dist + '/exec/host/session-environment.js');
  const env = sessionEnvironment({ ...process.env, HOME: cwd, USER: 'nobody', LOGNAME: 'nobody' });
  const { NO_SANDBOX, tryBubblewrap } = require(dist + '/exec/sandbox/open-sandbox.js');
  const places = { workspace: cwd, home, dataDir, loaded: JSON.parse(settings).loaded };
  const { profile: sandbox, reason } = home ? tryBubblewrap({ ...NO_SANDBOX, ...JSON.parse(settings) }, places) : {};
  if (reason) throw new Error(reason);
  const host = new SessionHost({ dataDir, cwd, env, treeKill: treeKill || detectTreeKill(), sandbox });
  const lines = require('node:readline').createInterface({ input: process.stdin });
  lines.on('line', async (line) => {
    const [method, ...args] = JSON.parse(line);
    try { console.log(JSON.stringify({ ok: await host[method](...args) ?? null })); }
    catch (err) { console.log(JSON.stringify({ error: String(err) })); }
  });
  lines.on('close', () => process.exit());`;

export interface HostOfUser {
  dataDir: string;
  cwd: string;
  /** One call at a time. */
  call(method: 'run' | 'status' | 'reset' | 'observe' | 'closeAll', ...args: unknown[]): Promise<unknown>;
  status(): Promise<Snapshot>;
  end(): Promise<void>;
}

/** Why this machine cannot have one; undefined if it can. */
export function noHostOfUser(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can start a process of another user';
  const file = join(DIST, 'exec', 'host', 'session-host.js');
  const load = (of: object): SpawnSyncReturns<string> =>
    spawnSync(process.execPath, ['-e', `require(${JSON.stringify(file)})`], { ...of, encoding: 'utf8' });
  if (load({ uid: NOBODY, gid: NOBODY, cwd: '/' }).status === 0) return undefined;
  // What root cannot load either is broken, or has moved: no reason to skip what it is for.
  const { status, stderr } = load({});
  if (status !== 0) throw new Error(`${file} cannot be loaded: ${stderr}`);
  return 'the user nobody cannot read the checkout';
}

export const USER_SESSION = { agent: 'user', host: 'local', session: 0 };

/**
 * Without `treeKill` it finds out what it may do, as a worker does.
 * @param home of a sandbox that hides it; without one there is none
 * @param settings of the sandbox
 */
export function hostOfUser(
  treeKill?: TreeKill,
  home: string | null = null,
  settings: TestSandbox = {},
): HostOfUser {
  const [dataDir, cwd] = ['data', 'cwd'].map((name) => {
    const folder = mkdtempSync(join(tmpdir(), `holdfast-user-${name}-`));
    chownSync(folder, NOBODY, NOBODY);
    return folder;
  }) as [string, string];
  const given = [dataDir, cwd, treeKill ?? '', home ?? '', JSON.stringify(settings)];
  const child = spawn(process.execPath, ['-e', SERVE, DIST, ...given], {
    uid: NOBODY,
    gid: NOBODY,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'inherit'],
    // The test's, which Jest keeps apart from that of its process.
    env: { ...process.env },
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const call: HostOfUser['call'] = async (...request) => {
    child.stdin.write(`${JSON.stringify(request)}\n`);
    const { value, done } = await answers.next();
    if (done) throw new Error('the host ended');
    const { ok, error } = JSON.parse(value) as { ok: unknown; error?: string };
    if (error !== undefined) throw new Error(error);
    return ok;
  };
  return {
    dataDir,
    cwd,
    call,
    status: async () => (await call('status', USER_SESSION)) as Snapshot,
    async end() {
      await call('closeAll', 'test ended');
      child.stdin.end();
      await once(child, 'close');
      for (const folder of [dataDir, cwd]) rmSync(folder, { recursive: true, force: true });
    },
  };
}
