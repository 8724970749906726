// X4: the sandbox of `holdfast.toml`, from the command line to the terminal. With its own engine, because its worker
// confines everything it runs.
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { quote } from '../../../contracts/text/shell-word';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { noSandbox } from '../../helpers/hosts/sandbox';
import { until } from '../../helpers/until';

/** No program leaves its proxy out for it, as it does for 127.0.0.1. */
const FAR = '127.0.0.2';
const missing = noSandbox();
const whereSandboxed = missing === undefined ? describe : describe.skip;

whereSandboxed(`a sandboxed worker${missing === undefined ? '' : ` (not checked: ${missing})`}`, () => {
  const engine = new EngineOfItsOwn({ ownServer: true });
  let server: Server;
  let url: string;
  let workdir: string;
  /** Shown on purpose: temporary folders and homes are hidden anyway. */
  let outside: string;

  beforeAll(async () => {
    server = createServer((_, response) => response.end('found')).listen(0, FAR);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    url = `http://${FAR}:${port}`;
    workdir = mkdtempSync(join(tmpdir(), 'holdfast-confined-'));
    outside = mkdtempSync(join(tmpdir(), 'holdfast-outside-'));
    const config = `[sandbox]\nmode = "required"\nnetwork = ["${FAR}:${port}"]\nreadable = ["${outside}"]\n`;
    engine.configure(config);
    const { code, stderr } = await engine.cli(['up', '--workdir', workdir]);
    if (code !== 0) throw new Error(stderr);
    await engine.start();
  }, 60_000);
  afterAll(async () => {
    server.close();
    const left = await engine.end();
    for (const folder of [workdir, outside]) rmSync(folder, { recursive: true, force: true });
    expect(left).toEqual([]);
  }, 60_000);

  const get = (address: string): string =>
    `python3 -c "import urllib.request as web; print(web.urlopen('${address}').read().decode())" 2>&1 | tail -n 1`;

  test('commands write only their workspace, and reach only named hosts', async () => {
    const session = engine.client.session({ agent: 'confined', session: 0 });
    const code = `echo mine > mine; echo other > ${outside}/other; ${get(url)}; ${get('http://127.0.0.3')}`;
    const view = await session.exec({ code });
    expect(view).toMatchObject({ state: 'exited', sandbox: 'bubblewrap' });
    expect(view.output).toContain('found\n');
    expect(view.output).toMatch(/403: 127\.0\.0\.3:80 is not among the hosts of this sandbox/);
    expect(readFileSync(join(workdir, 'mine'), 'utf8')).toBe('mine\n');
    expect(existsSync(join(outside, 'other'))).toBe(false);
  });

  test('a session that is to start in a hidden folder runs nothing, and says which one is visible', async () => {
    const hidden = mkdtempSync(join(tmpdir(), 'holdfast-hidden-'));
    const session = engine.client.session({ agent: 'confined', session: 3 }, { cwd: hidden });
    const { exitCode, output } = await session.exec({ code: 'echo ran' });
    rmSync(hidden, { recursive: true });
    expect(exitCode).toBe(71);
    expect(output.replaceAll('\n', '')).toContain(
      `the sandbox of this host shows ${workdir} and hides most others`,
    );
    expect(output).not.toContain('ran\n');
  });

  test('a connection stays open when the worker is killed in the middle of a command', async () => {
    const session = engine.client.session({ agent: 'confined', session: 1 });
    await session.exec({ code: 'kept=yes' });
    const code = `touch begun; until [ -e go-on ]; do sleep 0.05; done; ${get(url)}`;
    const running = session.exec({ code });
    running.catch(() => undefined);
    await until(() => existsSync(join(workdir, 'begun')));
    await engine.killWorker();
    writeFileSync(join(workdir, 'go-on'), '');
    await engine.startWorker();
    await running;
    const { output } = await session.output({ wait: 'exit', waitMs: 20_000, from: 0 });
    expect(output).toBe('found\n');
    // In the same shell: the next worker has the same workspace, and so the same sandbox.
    expect(await session.exec({ code: 'echo $kept' })).toMatchObject({ output: 'yes\n', epoch: 1 });
  });

  test('a tool beside sessions, called by a script, has the same way out and no other', async () => {
    const session = engine.client.session({ agent: 'confined', session: 2 });
    const call = (address: string): string => `tool shell --command ${quote(get(address))}`;
    const code = `${call(url)}; ${call('http://127.0.0.3')}`;
    const { output } = await session.exec({ code });
    expect(output).toContain('found');
    expect(output).toMatch(/403: 127\.0\.0\.3:80 is not among/);
  });

  async function sandboxCheck(env: NodeJS.ProcessEnv): Promise<unknown> {
    const { stdout } = await engine.cli(['doctor', '--json'], { env });
    return (JSON.parse(stdout) as { name: string }[]).find(({ name }) => name === 'sandbox');
  }

  test('doctor says which hosts are reached', async () => {
    expect(await sandboxCheck({})).toMatchObject({
      status: 'ok',
      found: expect.stringContaining(`bubblewrap, network to ${FAR}:`) as string,
    });
  });

  test('doctor looks at the folder in which the worker of before began its shells', async () => {
    // In the place of the home folder it may not be writable.
    expect(await sandboxCheck({ HOME: workdir })).toMatchObject({
      status: 'fail',
      found: expect.stringContaining(`${workdir} may not be writable`) as string,
    });
  });

  test('a worker whose sandbox cannot be had does not start, and says why', async () => {
    await engine.killWorker();
    const { code, stderr } = await engine.cli(['up'], { env: { PATH: workdir } });
    expect(code).not.toBe(0);
    expect(stderr).toContain('there is no program bwrap on the PATH');
  });
});
