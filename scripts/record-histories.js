// Records one history of each workflow into tests/histories/, to be replayed by every later release. Run it while
// `holdfast up` runs, once per release that changes the order of commands on purpose.
const { mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { mkdtempSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { HoldfastClient } = require('../dist/client');
const { recordHistory, toolCall: call } = require('../dist/testing');

const { version } = require('../package.json');
const folder = join(__dirname, '..', 'tests', 'histories');

async function main(address) {
  const client = await HoldfastClient.connect({ address });
  const directory = mkdtempSync(join(tmpdir(), 'histories-'));
  const replies = [
    { text: call('code_execution_tool', { runtime: 'terminal', code: 'read -r x; echo "got $x"' }) },
    { text: call('input', { session: 0, keyboard: 'y' }) },
    { text: '{"tool_name": "cut' },
    { text: call('code_execution_tool', { runtime: 'terminal', code: 'sleep 100' }) },
    { text: call('code_execution_tool', { runtime: 'output' }) },
    { text: call('code_execution_tool', { runtime: 'reset', reason: 'enough' }) },
    { text: 'done' },
  ];
  const file = join(directory, 'replies.yaml');
  writeFileSync(file, JSON.stringify(replies));
  const id = `history-${Date.now()}`;
  const quick = { firstOutputMs: 500, betweenOutputMs: 500, maxMs: 500, promptMs: 500 };
  await client
    .agent(id)
    .start({ task: 'Record a history', model: `scripted:${file}`, cwd: '/tmp', yield: quick });
  await client.agent(id).result();
  mkdirSync(folder, { recursive: true });
  for (const [name, workflowId] of [
    ['agent', `agent/${id}`],
    ['turn', `agent/${id}/turn/1`],
    ['exec-session', `exec/${id}/local/0`],
    ['claim', 'claim/host.local'],
  ]) {
    await recordHistory(client, workflowId, join(folder, `${name}-${version}.json`));
  }
  await client.close();
}

main(process.argv[2] ?? '127.0.0.1:7233');
