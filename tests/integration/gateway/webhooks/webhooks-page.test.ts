// The examples of docs/webhooks.md, as a reader runs them.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfiguration } from '../../../../workers/configuration/configuration';
import { docBlocks } from '../../../helpers/docs/doc-blocks';
import { freePort } from '../../../helpers/free-port';
import { GatewayOfItsOwn } from '../../../helpers/gateway/gateway-of-its-own';
import { uniqueId } from '../../../helpers/engines/temporal';
import { until } from '../../../helpers/until';

jest.setTimeout(200_000);

const own = new GatewayOfItsOwn();
const { files } = own;
let receiver: ChildProcess | undefined;
beforeAll(() => own.start({ config: '[fetch]\nallow_private = ["127.0.0.1"]\n', role: 'admin' }), 120_000);
afterAll(async () => {
  receiver?.kill('SIGKILL');
  await own.end();
}, 120_000);

const block = (language: string): string => {
  const found = docBlocks('webhooks.md').find((one) => one.language === language);
  if (!found) throw new Error(`no example in ${language}`);
  return found.code;
};

const bash = (code: string, env: NodeJS.ProcessEnv): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile('bash', ['-eu', '-c', code], { env: { ...process.env, ...env } }, (err, stdout, stderr) =>
      err ? reject(new Error(`${err.message}\n${stdout}\n${stderr}`)) : resolve(stdout),
    );
  });

test('the example with curl creates a webhook, and the one with Python takes its events and no forged ones', async () => {
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}/`;
  const env = { HOLDFAST_URL: own.gateway.url, HOLDFAST_TOKEN: own.api.token ?? '', RECEIVER: url };
  const { secret } = JSON.parse(await bash(block('bash'), env)) as { secret: string };
  let printed = '';
  receiver = spawn('python3', ['-c', block('python')], {
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: port },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  receiver.stdout?.on('data', (data: Buffer) => (printed += data.toString('utf8')));
  await own.api.post('/v1/webhooks/on-call/test');
  await until(() => printed.includes("webhook.test {'webhook': 'on-call'}"), 120_000);
  const agent = uniqueId('ci');
  await own.api.post('/v1/agents', { id: agent, task: 'x', ...files.settings([{ text: 'done' }]) });
  await until(() => printed.includes(`turn.ended {'agent': '${agent}'`), 120_000);

  const post = async (sent: number, key = secret): Promise<number> => {
    const body = '{"type":"forged","data":{}}';
    const signature = createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
      .update(`evt_1.${sent}.${body}`)
      .digest('base64');
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(sent),
      'webhook-signature': `v1,${signature}`,
    };
    return (await fetch(url, { method: 'POST', body, headers })).status;
  };
  const now = Math.floor(Date.now() / 1_000);
  expect(await post(now, `whsec_${'A'.repeat(43)}=`)).toBe(401);
  expect(await post(now - 3_600)).toBe(401);
  expect(printed).not.toContain('forged');
  expect(await post(now)).toBe(204);
});

test('the example of the configuration is one', () => {
  const file = join(files.directory, 'holdfast.toml');
  writeFileSync(file, block('toml'));
  const source = { file, isNamed: true, env: {}, programEnv: {} };
  expect(readConfiguration(source).webhooks).toEqual([
    {
      ...{ id: 'on-call', url: 'https://example.com/holdfast', agents: ['ci-*'] },
      events: ['agent.waiting_approval', 'session.lost'],
      secret: { file: join(files.directory, 'on-call.secret') },
    },
  ]);
});
