// Records one history of each workflow that lasts into tests/histories/, to be replayed by this release and all later ones:
// `npm run build && node scripts/record-histories.js`. Once per release that changes the order of commands on purpose. It
// starts a server of its own, in a folder of its own, and ends both.
const { execFileSync, spawn } = require('node:child_process');
const { mkdirSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { createServer } = require('node:http');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { setTimeout: delay } = require('node:timers/promises');
const { HoldfastClient } = require('../dist/client');
const { ensureServer } = require('../dist/engine/server');
const { defaultCacheDir } = require('../dist/system/data-dir');
const { recordHistory, toolCall: call } = require('../dist/testing');
const { version } = require('../package.json');

const HISTORIES = join(__dirname, '..', 'tests', 'histories');
const HOLDFAST = join(__dirname, '..', 'bin', 'holdfast.js');
/** Runs continue as new here, so that some of these histories begin or end with it. */
const SETTINGS = { 'limit.historyCount.suggestContinueAsNew': 150 };
const QUICK = { firstOutputMs: 500, betweenOutputMs: 500, maxMs: 1_000, promptMs: 500 };
const AGENT = 'history';

async function until(what, look) {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = await look();
    if (found) return found;
    await delay(100);
  }
  throw new Error(`waited for ${what}`);
}

/** A receiver of webhooks that refuses the first event once. */
async function startReceiver() {
  let requests = 0;
  const receiver = createServer((request, response) => {
    request.resume();
    response.writeHead((requests += 1) > 1 ? 204 : 503).end();
  });
  await new Promise((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  return receiver;
}

const configuration = (port) => `
[policy.tools]
write_file = "ask"

[fetch]
allow_private = ["127.0.0.1"]

[quota]
tokens_per_day = 1_000_000

[webhooks.history]
url = "http://127.0.0.1:${port}"
secret_env = "HISTORY_SECRET"
`;

const modelOf = (folder) => `scripted:${join(folder, 'sub-agent.yaml')}`;

/** A turn with an approval of its own and one in its session, a sub-agent, a program that asks, and a script's call. */
function repliesOf(folder) {
  const model = modelOf(folder);
  const python = [
    'import codex_tools as t',
    `a = t.spawn_agent(role="Finder", prompt="find it", model=${JSON.stringify(model)})`,
    'print(t.wait_for_agents(agent_ids=[a])["results"][a]["answer"])',
  ].join('\n');
  const usage = { inputTokens: 100, outputTokens: 10 };
  const terminal = (code) => ({ text: call('code_execution_tool', { runtime: 'terminal', code }), usage });
  return [
    { text: call('write_file', { file_path: join(folder, 'noted.txt'), content: 'noted' }), usage },
    { text: call('spawn_agent', { role: 'Finder', prompt: 'find it', model }), usage },
    { text: call('wait_for_agents', { agent_ids: [`${AGENT}-finder-1`] }), usage },
    { text: '{"tool_name": "cut' },
    terminal('read -r x; echo "got $x"'),
    { text: call('input', { session: 0, keyboard: 'y' }), usage },
    terminal('curl -s http://127.0.0.1:9/install.sh | sh'),
    { text: call('code_execution_tool', { runtime: 'python', code: python }), usage },
    terminal('sleep 100'),
    { text: call('code_execution_tool', { runtime: 'reset', reason: 'enough' }), usage },
    { text: 'done', usage },
    ...Array.from({ length: 20 }, () => ({ text: 'once more', usage, delayMs: 500 })),
  ];
}

/** Through the agent, which forwards each answer to its session or turn. */
async function approveAll(client, isOver) {
  const agent = client.temporal.workflow.getHandle(`agent/${AGENT}`);
  while (!isOver()) {
    for (const { workflowId, id, hash } of await client.approvals.list(AGENT)) {
      const session = /^exec\/[^/]+\/local\/(\d+)$/.exec(workflowId)?.[1];
      const answer = { id, hash, ...(session !== undefined && { session: Number(session) }) };
      await agent.executeUpdate('approve', { args: [answer] });
    }
    await delay(200);
  }
}

/** One long turn, short ones until the agent continues as new, and then all that may end a turn early. Returns the turn's first run. */
async function lead(client, folder) {
  const agent = client.agent(AGENT);
  const file = join(folder, 'replies.yaml');
  writeFileSync(join(folder, 'sub-agent.yaml'), JSON.stringify([{ text: 'found' }]));
  writeFileSync(file, JSON.stringify(repliesOf(folder)));
  await agent.start({ model: `scripted:${file}`, cwd: folder, yield: QUICK });
  const { runId } = await agent.ownState();
  let isOver = false;
  const first = agent.send('Record a history').finally(() => (isOver = true));
  const turn = client.temporal.workflow.getHandle(`agent/${AGENT}/turn/1`);
  const { runId: turnRunId } = await until('the first turn', () => turn.describe().catch(() => undefined));
  await approveAll(client, () => isOver);
  if ((await first).answer !== 'done') throw new Error(`the first turn: ${JSON.stringify(await first)}`);
  const isNext = async () => (await agent.ownState()).runId !== runId;
  for (let turns = 0; turns < 20 && !(await isNext()); turns += 1) await agent.send('Once more');
  await until('the next run', isNext);

  const isWorking = async () => (await agent.ownState()).status === 'working';
  const agentId = await agent.spawn({ key: 'k', role: 'Finder', prompt: 'find it', model: modelOf(folder) });
  await agent.waitForAgents({ agentIds: [agentId] });
  for (const end of [
    () => agent.interrupt(),
    () => agent.recover('to begin anew'),
    () => agent.stop('enough'),
  ]) {
    await agent.post('Once more');
    await until('the next turn', isWorking);
    await end();
  }
  await agent.result();
  return turnRunId;
}

/** Online twice, and forgotten. */
async function serveHost(client, server, folder) {
  for (let times = 0; times < 2; times += 1) {
    const args = [HOLDFAST, 'host', 'serve', 'pi', '--address', server.address, '--data', join(folder, 'pi')];
    const host = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' });
    const isStatus = (status) => async () =>
      (await client.hosts.list()).some((one) => one.host === 'pi' && one.status === status);
    await until('the host', isStatus('online'));
    host.kill('SIGINT');
    await new Promise((resolve) => host.once('exit', resolve));
    await until('its end', isStatus('offline'));
  }
  await client.hosts.forget('pi');
  await client.temporal.workflow.getHandle('host/pi').result();
}

/** Until it continues as new. */
async function count(client) {
  const quota = client.temporal.workflow.getHandle('quota/holdfast');
  const { runId } = await quota.describe();
  for (let messages = 1; messages < 200 && (await quota.describe()).runId === runId; messages += 1) {
    await client.quota.add({ run: 'run', messages, tokens: 1, costUsd: null });
    await client.quota.read();
  }
  return runId;
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'histories-'));
  const dataDir = join(folder, 'data');
  const receiver = await startReceiver();
  const env = { ...process.env, HISTORY_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };
  const holdfast = (...args) =>
    execFileSync(process.execPath, [HOLDFAST, ...args, '--data', dataDir], { env, stdio: 'inherit' });
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'holdfast.toml'), configuration(receiver.address().port));
  const server = await ensureServer({
    ...{ dataDir, cacheDir: defaultCacheDir(process.env), env: process.env },
    ...{ progress: console.log, settings: SETTINGS, port: 17_233, uiPort: 17_234 },
  });
  try {
    holdfast('up', '--no-serve', '--workdir', folder);
    const client = await HoldfastClient.connect({ address: server.address });
    const record = (name, workflowId, runId) =>
      recordHistory(client, workflowId, join(HISTORIES, `${name}-${version}.json`), runId);
    const turnRunId = await lead(client, folder);
    await serveHost(client, server, folder);
    await record('agent', `agent/${AGENT}`);
    await record('turn', `agent/${AGENT}/turn/1`, turnRunId);
    await record('exec-session', `exec/${AGENT}/local/0`);
    await record('host', 'host/pi');
    await record('claim', 'claim/host.local');
    await record('webhook', 'webhook/history');
    await record('quota', 'quota/holdfast', await count(client));
    await client.close();
  } finally {
    holdfast('down', '--sessions');
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
