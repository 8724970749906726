// One server with two namespaces, and a host of the same name in each: what a data folder keeps of its own host is not
// the other's.
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Work } from '../../../cli/print/work';
import { sessionWorkflowId } from '../../../contracts/ids';
import type { CliResult } from '../../helpers/engines/command-lines';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { scratch } from '../../helpers/engines/temporal';
import { ApiClient } from '../../helpers/gateway/gateway';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { until } from '../../helpers/until';
import { fileNeeds } from '../../helpers/run/programs';

fileNeeds('openssl');

const HOST = 'build1';
const ref = { agent: 'a', host: HOST, session: 1 };
const SESSION = ['--agent', ref.agent, '--host', HOST, '--session', String(ref.session)];

const prod = new EngineOfItsOwn();
const staging = new EngineOfItsOwn();
const files = scratch();
let host: RemoteHost;
let tokenFile: string;

/** All from the data folder that serves the host of staging. */
const inStaging = (...args: string[]): Promise<CliResult> =>
  staging.cliInTurn([...args, '--address', prod.server().address]);
const toProd = (): string[] => ['--address', prod.server().address, '--namespace', prod.namespace];
const inProd = (...args: string[]): Promise<CliResult> => staging.cliInTurn([...args, ...toProd()]);

beforeAll(async () => {
  await prod.start();
  await staging.startServer();
  host = new RemoteHost(HOST, prod.server().address);
  await host.serve('--namespace', prod.namespace, '--listen', '127.0.0.1:0');
  tokenFile = join(files.directory, 'token');
  writeFileSync(tokenFile, await host.cli('host', 'token', HOST));
  const known = async (): Promise<unknown> =>
    (await prod.client.hosts.state(HOST).catch(() => null))?.facts?.listens;
  await until(async () => Boolean(await known()));
  expect((await inStaging('up', '--host', HOST)).stderr).toBe('');
  const { stdout } = await inStaging('exec', ...SESSION, 'echo of staging; sleep 300', '--yield-ms', '500');
  expect(stdout).toContain('of staging\n');
}, 120_000);
afterAll(async () => {
  await host.end();
  files.remove();
  expect(await Promise.all([staging.end(), prod.end()])).toEqual([[], []]);
}, 60_000);

describe('a host of the same name in another namespace is not taken for the one of this data folder', () => {
  test('`exec` prints what its own command said, with and without a connection to the host', async () => {
    const done = { code: 0, stdout: `${host.root}\n`, stderr: '' };
    expect(await inProd('exec', ...SESSION, 'pwd')).toEqual(done);
    expect(await inProd('exec', ...SESSION, 'pwd', '--token-file', tokenFile)).toEqual(done);
  }, 60_000);

  test('`cp` writes and reads the files of that host only', async () => {
    const sent = join(files.directory, 'sent');
    writeFileSync(sent, 'for prod\n');
    const way = ['--token-file', tokenFile];
    expect(await inProd('cp', sent, `${HOST}/a:sent`, ...way)).toMatchObject({ code: 0 });
    expect(readFileSync(join(host.root, 'sent'), 'utf8')).toBe('for prod\n');
    expect(existsSync(join(staging.dataDir, 'work', 'sent'))).toBe(false);
    const back = join(files.directory, 'back');
    expect(await inProd('cp', `${HOST}/a:sent`, back, ...way)).toMatchObject({ code: 0 });
    expect(readFileSync(back, 'utf8')).toBe('for prod\n');
    const refused = await inProd('cp', sent, `${HOST}/a:sent`);
    expect(refused.stderr).toContain('files_unreachable');
  }, 60_000);

  test('`ps` shows what its session is doing, and `attach` its terminal', async () => {
    const all = JSON.parse((await inProd('ps', '--json')).stdout) as Work[];
    const shown = all.find(({ workflowId }) => workflowId === sessionWorkflowId(ref));
    expect(shown).toMatchObject({ doing: 'idle, epoch 1', waits: null });
    const attached = await inProd('attach', '--watch', ...SESSION, '--token-file', `${tokenFile}-none`);
    // It goes to that host, and asks for its token.
    expect(attached.stderr).toContain('--token-file');
  }, 60_000);

  test('the gateway does not give out the other’s log', async () => {
    const serving = staging.spawnCli(['serve', '--listen', '127.0.0.1:0', '--json', ...toProd()]);
    try {
      const { url } = await lineOf(serving.stdout as Readable);
      const created = await inProd('token', 'create', 'reader', '--role', 'viewer', '--json');
      const { token } = JSON.parse(created.stdout) as { token: string };
      const { status, body } = await new ApiClient(url, token).ask('GET', `/v1/sessions/a/${HOST}/1/log`);
      expect([status, JSON.stringify(body)]).toEqual([404, expect.stringContaining('no token is given')]);
    } finally {
      serving.kill('SIGTERM');
      await once(serving, 'close');
    }
  }, 60_000);

  test('`output` of a closed session prints nothing of the other’s log', async () => {
    await inProd('close', ...SESSION);
    const closed = await inProd('output', ...SESSION);
    expect(closed.stdout).toBe('');
    expect(closed.stderr).toContain('not_found');
  }, 60_000);
});

async function lineOf(output: Readable): Promise<{ url: string }> {
  const [line] = (await once(createInterface(output), 'line')) as [string];
  return JSON.parse(line) as { url: string };
}
