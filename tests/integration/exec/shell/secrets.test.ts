// Secrets in real terminals: filled in where nothing keeps them, and masked in all output.
import { lstatSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RUNTIMES } from '../../../../contracts/sessions/session';
import { readLog, logEnd } from '../../../../exec/output/log-reader';
import { SecretStore } from '../../../../exec/host/secret-store';
import { sessionPaths } from '../../../../exec/session-paths';
import { SessionHost } from '../../../../exec/host/session-host';
import { filesWith } from '../../../helpers/tools/files-with';
import { testHost, type TestHost } from '../../../helpers/terminals/session-host';

const VALUE = 'swordfish-4711-planted';
const MULTI = `-----BEGIN KEY-----\nswordfish-of-two\n-----END KEY-----`;
const MASK = '{{secret:PLANTED}}';
/** Without quotes: the code's author quotes it. */
const HALVES = [VALUE.slice(0, 9), VALUE.slice(9)] as const;

const store = new SecretStore({ env: { PLANTED: VALUE, MULTI, LATER: 'another-planted' } });
let test1: TestHost;
beforeAll(() => {
  test1 = testHost({ secrets: store });
});
afterAll(() => test1.end());

let sessions = 0;
const newRef = (): TestHost['ref'] => ({ ...test1.ref, session: ++sessions });
const logOf = (ref: TestHost['ref']): string => {
  const { log } = sessionPaths(test1.dataDir, ref);
  return readLog(log, 0, logEnd(log)).toString();
};
/** Files of the data folder that hold the value. */
const leaks = (): string => filesWith(VALUE, test1.dataDir, '/dev/shm');

test('the search for leaks finds a value that lies in a file', () => {
  const file = join(test1.dataDir, 'leaked');
  writeFileSync(file, `\0 ${VALUE} \0`);
  expect(leaks()).toBe(`${file}\n`);
  rmSync(file);
});

const PRINTS: Record<(typeof RUNTIMES)[number], string> = {
  terminal: `x='{{secret:PLANTED}}'; echo "\${#x} $x"`,
  python: `x = '{{secret:PLANTED}}'\nprint(len(x), x)`,
  python_script: `# /// script\n# dependencies = []\n# ///\nx = '{{secret:PLANTED}}'\nprint(len(x), x)`,
  nodejs: `import { EOL } from 'node:os';\nconst x = '{{secret:PLANTED}}';\nprocess.stdout.write(x.length + ' ' + x + EOL)`,
};

test.each(Object.keys(PRINTS) as (typeof RUNTIMES)[number][])(
  'code of runtime %s has the value, and nothing that it prints or leaves has',
  async (runtime) => {
    const ref = newRef();
    const view = await test1.run(PRINTS[runtime], { ref, runtime });
    expect(view).toMatchObject({ state: 'exited', exitCode: 0 });
    expect(view.output).toContain(`${VALUE.length} ${MASK}`);
    expect(leaks()).toBe('');
  },
  30_000,
);

test('while a command with a secret runs, no file holds it', async () => {
  const ref = newRef();
  const code = `: '{{secret:PLANTED}}'; grep -rlaF -D skip ${HALVES[0]}'${HALVES[1]}' ${test1.dataDir}; echo found $?; read x`;
  const view = await test1.run(code, { ref });
  expect(view).toMatchObject({ state: 'waiting_input' });
  expect(view.output).toContain('found 1');
  expect(leaks()).toBe('');
});

test.each([
  ['by itself', ''],
  ['with its shell', 'import os\nos.kill(os.getppid(), 9)'],
])('nothing serves the secret of a command that has ended %s', async (_how, last) => {
  const ref = newRef();
  const { epoch } = await test1.run(`x = '{{secret:PLANTED}}'\n${last}`, { ref, runtime: 'python' });
  await test1.until({ kind: 'exit', from: 0, timeoutMs: 20_000 }, ref);
  const folder = join(sessionPaths(test1.dataDir, ref).directory, `epoch-${epoch}`);
  expect(
    readdirSync(folder)
      .filter((name) => lstatSync(join(folder, name)).isFIFO())
      .sort(),
  ).toEqual(['down', 'hold', 'up']);
});

test('a secret is typed, its echo is masked, and so is what the program makes of it in two halves', async () => {
  const ref = newRef();
  await test1.run(
    `read -p 'token: ' t; printf '%s' "\${t:0:9}"; sleep 0.05; printf '%s\\n' "\${t:9}"; printf 'raw %s\\n' ${HALVES[0]}; sleep 0.05; printf '%s' ${HALVES[0]}; echo ${HALVES[1]}`,
    { ref },
  );
  await test1.host.input(ref, { id: 'typed', text: `x${MASK}`, keys: [] });
  const view = await test1.until({ kind: 'exit', from: 0, timeoutMs: 20_000 }, ref);
  expect(view.output).toContain(`token: x${MASK}`);
  expect(view.output).toContain(`raw ${HALVES[0]}\n`);
  expect(view.output.match(/\{\{secret:PLANTED\}\}/g)).toHaveLength(3);
  expect(logOf(ref)).not.toContain(VALUE);
});

test('what begins like a secret at the end of a command is shown when it ends', async () => {
  const ref = newRef();
  await test1.run(': {{secret:PLANTED}}', { ref });
  expect((await test1.run(`printf '%s' ${HALVES[0]}`, { ref })).output).toBe(HALVES[0]);
});

test('a secret of several lines is masked as the terminal prints it', async () => {
  const ref = newRef();
  const view = await test1.run(`cat <<'END'\n[{{secret:MULTI}}]\nEND`, { ref });
  expect(view.output.trim()).toBe('[{{secret:MULTI}}]');
});

test('an unknown name runs and types nothing, and names the allowed ones', async () => {
  const ref = newRef();
  const refusal = { code: 'secret_unknown', facts: { got: 'NONE', allowed: 'LATER, MULTI, PLANTED' } };
  await expect(test1.run('touch ran; {{secret:NONE}}', { ref })).rejects.toMatchObject(refusal);
  expect(test1.host.isOpen(ref)).toBe(false);
  await test1.run('read x; echo "typed: $x"', { ref });
  const input = { id: 'none', text: '{{secret:NONE}}', keys: [] };
  await expect(test1.host.input(ref, input)).rejects.toMatchObject(refusal);
  expect(logOf(ref)).not.toContain('typed');
});

test('masking continues in a later shell of the session, and under a later host', async () => {
  const ref = newRef();
  await test1.run(': {{secret:PLANTED}}', { ref });
  await test1.host.reset(ref, { id: 'r', reason: null, by: 'reset' });
  const next = new SessionHost({ ...test1.host.options, secrets: undefined });
  await next.run(ref, { id: 'after', runtime: 'terminal', code: `echo ${HALVES[0]}'${HALVES[1]}'` });
  await next.observe(ref, { kind: 'exit', from: 0, timeoutMs: 20_000 });
  next.detach();
  expect(logOf(ref)).toContain(MASK);
  expect(logOf(ref)).not.toContain(VALUE);
});

test('the record of a command and its identity have the name: the same id is the same command after the value changed', async () => {
  const ref = newRef();
  const code = 'echo {{secret:PLANTED}}; echo once >> once';
  await test1.run(code, { ref, id: 'same' });
  const changed = new SessionHost({ ...test1.host.options, secrets: new SecretStore({ env: {} }) });
  await changed.run(ref, { id: 'same', runtime: 'terminal', code });
  changed.detach();
  expect(readFileSync(`${test1.cwd}/once`, 'utf8')).toBe('once\n');
});

test('a script of more than a pipe holds, and lines that keep their numbers', async () => {
  const ref = newRef();
  const filler = `# ${'x'.repeat(200_000)}`;
  const view = await test1.run(`x={{secret:PLANTED}}\n${filler}\necho "line $LINENO \${#x}"; (exit 3)`, {
    ref,
  });
  expect(view).toMatchObject({ exitCode: 3 });
  expect(view.output).toContain(`line 3 ${VALUE.length}`);
});
