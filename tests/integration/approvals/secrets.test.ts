// A canary secret, end to end: a real server, its worker, an agent. With its own engine, because its
// worker knows secrets.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionHandle } from '../../../client/session-handle';
import { enginePaths } from '../../../engine/record';
import { uiToken } from '../../../engine/ui-guard/ui-token';
import { filesWith } from '../../helpers/tools/files-with';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, scratch, type Scratch } from '../../helpers/engines/temporal';

const CANARY = 'canary-of-the-host-4711';
const HALVES = [CANARY.slice(0, 11), CANARY.slice(11)] as const;
/** In plaintext: it shows that the searches work. */
const CONTROL = 'control-of-the-host-4711';
/** Only for one agent's commands. */
const BOUND = 'bound-to-an-agent-4711';
const BOUND_ALLOWED = 'agents bound*; hosts local; use command';
const MASK = '{{secret:TOKEN}}';

const engine = new EngineOfItsOwn({ ownServer: true });
let files: Scratch;

beforeAll(async () => {
  files = scratch();
  const file = join(files.directory, 'secrets.toml');
  writeFileSync(file, `TOKEN = "${CANARY}"\nBOUND = "${BOUND}"\n`, { mode: 0o600 });
  engine.configure(
    `[secrets]\nfile = ${JSON.stringify(file)}\n[secrets.allow]\nTOKEN = {}\nNONE = {}\n` +
      `BOUND = { agents = ["bound*"], hosts = ["local"], use = ["command"] }\n`,
  );
  await engine.start();
}, 60_000);
afterAll(async () => {
  const left = await engine.end();
  files.remove();
  expect(left).toEqual([]);
}, 60_000);

const exec = (args: object): string => call('code_execution_tool', args);

/** Files below the data folder, the database among them, that hold a text. */
const inFolder = (text: string): string => filesWith(text, engine.dataDir);

/** What the HTTP API answers, with its payloads opened. */
async function overHttp(path: string): Promise<string> {
  const { uiUrl } = engine.server();
  const authorization = `Bearer ${uiToken(enginePaths(engine.dataDir).uiAuthorization)}`;
  const headers = { authorization };
  const response = await fetch(`${uiUrl}/api/v1/namespaces/default/${path}`, { headers });
  const body = await response.text();
  expect(response.status).toBe(200);
  const payloads = [...body.matchAll(/"data": ?"([^"]*)"/g)].map(([, data = '']) =>
    Buffer.from(data, 'base64'),
  );
  return [body, ...payloads].join('\n');
}

test('a secret that is used in code, typed, printed whole and in halves and given to a tool appears nowhere', async () => {
  const id = 'keeper';
  const print = `printf '%s' "\${t:0:11}"; sleep 0.05; printf '%s\\n' "\${t:11}"`;
  await engine.client.agent(id).start({
    task: `Keep it (${CONTROL})`,
    ...files.settings([
      { text: exec({ runtime: 'terminal', code: `t='${MASK}'; echo "\${#t} $t"; ${print}` }) },
      {
        expect: `${CANARY.length} \\{\\{secret:TOKEN`,
        text: exec({ runtime: 'terminal', code: `read -p 'again: ' u; echo "got $u"` }),
      },
      { expect: 'again: ', text: call('input', { session: 0, keyboard: MASK }) },
      {
        expect: 'got \\{\\{secret:TOKEN',
        text: exec({ runtime: 'terminal', code: `tool list_dir --dir-path "/tmp/$t" 2>&1; echo ${CONTROL}` }),
      },
      { expect: CONTROL, text: exec({ runtime: 'terminal', code: `echo {{secret:NONE}}` }) },
      { expect: 'secret_unknown|no secret with this name', text: 'kept' },
    ]),
  });
  expect(await engine.client.agent(id).result()).toMatchObject({ answer: 'kept' });

  const session = engine.client.session({ agent: 'operator', session: 1 });
  expect(await session.exec({ code: `: ${MASK}; read x; echo "signalled $x"` })).toMatchObject({
    state: 'waiting_input',
  });
  await engine.killWorker();
  await engine.startWorker();
  await session.signalInput({ keyboard: MASK });
  const ended = await session.output({ wait: 'exit', waitMs: 20_000 });
  expect(ended.output).toContain(`signalled ${MASK}`);
  expect((await session.exec({ code: `echo ${HALVES[0]}'${HALVES[1]}'` })).output.trim()).toBe(MASK);

  expect(inFolder(CONTROL)).toMatch(/temporal\.db|\.db/);
  expect(inFolder(CANARY)).toBe('');
  let answers = '';
  for await (const { workflowId } of engine.client.temporal.workflow.list())
    answers += await overHttp(`workflows/${encodeURIComponent(workflowId)}/history`);
  expect(answers).toContain(CONTROL);
  expect(answers).toContain(`/tmp/${MASK}`);
  expect(answers).not.toContain(CANARY);
}, 60_000);

test('a secret that the configuration allows to one agent is refused to others and in typed input, and nothing runs', async () => {
  const length = 'v={{secret:BOUND}}; echo "${#v}"';
  const of = (agent: string): SessionHandle => engine.client.session({ agent, session: 1 });
  expect((await of('bound-one').exec({ code: length })).output.trim()).toBe(String(BOUND.length));
  const marker = join(files.directory, 'ran');
  await expect(of('other').exec({ code: `touch ${marker}; ${length}` })).rejects.toMatchObject({
    code: 'secret_not_allowed',
    facts: { got: 'BOUND', use: 'command of agent other on host local', allowed: BOUND_ALLOWED },
  });
  expect(existsSync(marker)).toBe(false);
  expect(await of('bound-one').exec({ code: 'read x; echo "got $x"' })).toMatchObject({
    state: 'waiting_input',
  });
  await expect(of('bound-one').input({ keyboard: '{{secret:BOUND}}' })).rejects.toMatchObject({
    code: 'secret_not_allowed',
    facts: { use: 'input of agent bound-one on host local' },
  });
  expect((await of('bound-one').input({ keyboard: 'plain' })).output).toContain('got plain');
});
