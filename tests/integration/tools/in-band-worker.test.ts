// Calls through the terminal to tools of a real worker: an agent connects the shell, or a person does by hand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, scratch, uniqueId, type Scratch } from '../../helpers/engines/temporal';

const MODULE = join(packageRoot(), 'tests', 'fixtures', 'journal-tools.mjs');
const SHELL = 'env -i PATH="$PATH" TMPDIR="$PWD" PS1="far> " bash --norc --noediting';

const engine = new EngineOfItsOwn();
let files: Scratch;
beforeAll(async () => {
  files = scratch();
  await engine.start({ tools: [MODULE] });
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

test('an agent connects a shell that only its terminal reaches, and a script there calls a tool', async () => {
  const file = join(files.directory, 'by-agent');
  const agent = engine.client.agent(uniqueId('in-band'));
  const exec = { session: 3, runtime: 'terminal', code: SHELL };
  await agent.start({
    task: 'x',
    model: files.model([
      { text: call('connect_tools', { session: 3 }) },
      { expect: 'not_found.*A terminal to call tools through', text: call('code_execution_tool', exec) },
      { expect: 'far>', text: call('connect_tools', { session: 3 }) },
      {
        expect: 'Scripts in the shell of session 3 can call tools now',
        text: call('input', { session: 3, keyboard: `tool write_once --file ${file} | tr a-z A-Z` }),
      },
      { expect: 'WRITTEN', text: 'done' },
    ]),
  });
  await agent.result();
  expect(readFileSync(file, 'utf8')).toBe('write_once 1\n');
  // An agent's allow-list holds there as well.
}, 60_000);

test('a script there may call what its agent may, and no more', async () => {
  const file = join(files.directory, 'forbidden');
  const agent = engine.client.agent(uniqueId('in-band'));
  await agent.start({
    task: 'x',
    tools: ['code_execution_tool', 'input', 'connect_tools'],
    model: files.model([
      { text: call('code_execution_tool', { runtime: 'terminal', code: SHELL }) },
      { expect: 'far>', text: call('connect_tools', {}) },
      { text: call('input', { keyboard: `tool write_once --file ${file}; echo $?` }) },
      { expect: 'tool_not_allowed', text: 'done' },
    ]),
  });
  await agent.result();
  expect(() => readFileSync(file)).toThrow('ENOENT');
}, 60_000);

test('a person arms a session from the command line', async () => {
  const file = join(files.directory, 'by-person');
  const refused = await engine.cliInTurn(['arm', '--session', '5']);
  expect([refused.code, refused.stderr]).toEqual([
    66,
    expect.stringContaining('not_found: A terminal to call'),
  ]);
  await engine.cliInTurn(['exec', '--session', '5', '--yield-ms', '0', SHELL], { cwd: files.directory });
  await engine.cliInTurn(['output', '--session', '5', '--wait', 'pattern:far> ']);
  const { line } = JSON.parse((await engine.cliInTurn(['arm', '--session', '5', '--json'])).stdout) as {
    line: string;
  };
  expect(Buffer.byteLength(line)).toBeLessThan(300);
  await engine.cliInTurn(['input', '--session', '5', line]);
  await engine.cliInTurn(['output', '--session', '5', '--wait', 'pattern:Tools can be called here']);
  await engine.cliInTurn(['input', '--session', '5', `tool write_again --file ${file} | tr a-z A-Z`]);
  await engine.cliInTurn(['output', '--session', '5', '--wait', 'pattern:WRITTEN']);
  expect(readFileSync(file, 'utf8')).toBe('write_again 1\n');
  const typed = await engine.cliInTurn(['arm', '--session', '5', '--type', '--json']);
  expect(JSON.parse(typed.stdout)).toEqual({ session: 5, armed: true, line: null });
  const off = await engine.cliInTurn(['arm', '--session', '5', '--off', '--json']);
  expect(JSON.parse(off.stdout)).toEqual({ session: 5, armed: false, line: null });
  expect((await engine.cliInTurn(['arm', '--session', '5', '--off', '--type'])).code).toBe(64);
  expect((await engine.cliInTurn(['arm', '--host', 'other'])).stderr).toContain(
    'Run it on the machine of host other',
  );
  await engine.cliInTurn(['close', '--session', '5']);
}, 60_000);
