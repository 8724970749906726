// A client that a stock generator makes of the running gateway's OpenAPI document: it type-checks, and drives an agent
// through its whole life.
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Json } from '../../helpers/gateway/gateway';
import { GatewayOfItsOwn } from '../../helpers/gateway/gateway-of-its-own';
import { call } from '../../helpers/engines/temporal';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..', '..');
const own = new GatewayOfItsOwn();
const { files } = own;
const folder = files.directory;
beforeAll(() => own.start({ config: '[policy.agents]\nasked = "ask"\n' }), 60_000);
afterAll(() => own.end(), 60_000);

/** As a user writes it. Lists, numbers and nulls are used as what the types say. */
const PROGRAM = `
import { client } from './client/client.gen';
import { approve, followAgent, listApprovals, sendMessage, startAgent, stopAgent } from './client';
import type { AgentState, KeyedApproval, Problem } from './client';

const [url = '', token = '', settings = '{}'] = process.argv.slice(2);
client.setConfig({ baseUrl: url, auth: token });
const seen: string[] = [];

async function main(): Promise<void> {
  const { model, limits } = JSON.parse(settings);
  const key = { 'Idempotency-Key': 'the-start' };
  const body = { id: 'asked', task: 'Say hello.', mode: 'conversation' as const, model, limits };
  const { data: started } = await startAgent({ body, headers: key, throwOnError: true });
  const again = await startAgent({ body, headers: key, throwOnError: true });
  if (again.data.agent !== started.agent) throw new Error('two agents');
  const path = { agent: started.agent };
  let approved: KeyedApproval | undefined;
  let turns = 0;
  const { stream } = await followAgent({ path, onSseEvent: ({ event = '' }) => void seen.push(event) });
  for await (const _data of stream) {
    const event = seen.at(-1);
    if (!approved) {
      while (!approved) {
        const { data } = await listApprovals({ query: path, throwOnError: true });
        approved = data.items[0];
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await approve({ path: { key: approved.key }, body: { hash: approved.hash }, throwOnError: true });
    }
    if (event === 'turn_ended') {
      turns += 1;
      if (turns === 1) await sendMessage({ path, body: { message: 'And now?' }, throwOnError: true });
      else await stopAgent({ path, body: { reason: 'done' }, throwOnError: true });
    }
    if (event === 'ended') break;
  }
  const { error, response } = await sendMessage({ path: { agent: 'nobody' }, body: { message: 'x' } });
  const problem: Problem | undefined = error;
  const status: AgentState['status'] = 'ended';
  console.log(JSON.stringify({ turns, status, what: approved?.what, code: problem?.code, http: response?.status }));
  process.exit();
}
void main();
`;

/** The commands of docs/api.md, with the generator and the compiler that are installed here. */
const node = (script: string, ...args: string[]): Promise<{ stdout: string }> =>
  run(process.execPath, [script, ...args], { cwd: folder }).catch((err: unknown) => {
    const { stdout = '', stderr = '' } = err as { stdout?: string; stderr?: string };
    throw new Error(`${script} ${args.join(' ')}: ${stdout}${stderr}`);
  });

test('it type-checks, starts an agent once, follows it, approves, sends, and stops it', async () => {
  const generator = join(dirname(require.resolve('@hey-api/openapi-ts/package.json')), 'bin', 'run.js');
  await node(generator, '-i', `${own.gateway.url}/openapi.json`, '-o', 'client', '--no-log-file');
  writeFileSync(join(folder, 'main.ts'), PROGRAM);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(ROOT, 'node_modules', '@types'), join(folder, 'node_modules', '@types'));
  const options = { strict: true, target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'] };
  const modules = { module: 'commonjs', moduleResolution: 'node10', esModuleInterop: true, types: ['node'] };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { ...options, ...modules, outDir: 'out' },
      include: ['*.ts', 'client'],
    }),
  );
  await node(require.resolve('typescript/bin/tsc'));
  const settings = files.settings([
    { text: call('code_execution_tool', { runtime: 'terminal', code: 'echo hello' }) },
    { text: 'first' },
    { text: 'second' },
  ]);
  const { stdout } = await node(
    join(folder, 'out', 'main.js'),
    own.gateway.url,
    String(own.api.token),
    JSON.stringify(settings),
  );
  expect(JSON.parse(stdout) as Json).toEqual({
    turns: 2,
    status: 'ended',
    what: expect.any(String) as string,
    code: 'not_found',
    http: 404,
  });
}, 180_000);
