// A backend that gives an agent a task, answers its script's prompt, reads the output and awaits the result.
// Run it against a server with a worker: `npx holdfast up`, then `node examples/backend.ts`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastClient } from 'holdfast';

const call = (tool: string, args: object): { text: string } => ({
  text: JSON.stringify({ thoughts: [], headline: `calls ${tool}`, tool_name: tool, tool_args: args }),
});

// A scripted model, so that the example runs anywhere. The script asks, and the agent waits for its end.
const replies = [
  call('code_execution_tool', {
    runtime: 'terminal',
    session: 1,
    code: 'read -r -p "Deploy? " a; echo "deploying: $a"',
  }),
  call('code_execution_tool', { runtime: 'output', session: 1, wait: 'exit', wait_ms: 60_000 }),
  { expect: 'deploying: yes', text: 'It is deployed.' },
];

/** Says yes to the script of the agent's first command. */
async function answerScript(client: HoldfastClient, id: string): Promise<void> {
  // The agent's first command opens the session: the agent's messages show when.
  let hasRun = false;
  for await (const { message } of client.agent(id).follow()) if ((hasRun = message.role === 'tool')) break;
  // It has failed before that: its result says why.
  if (!hasRun) return;
  const session = client.session({ agent: id, session: 1 });
  const asking = await session.output({ wait: 'needs_input' });
  console.log(`the script asks: ${asking.output.trim()}`);

  await session.signalInput({ keyboard: 'yes' });
  const view = await session.output({ from: asking.to, wait: 'exit' });
  console.log(`it went on: ${view.output.trim().replaceAll('\n', ' / ')} (exit code ${view.exitCode})`);
}

// TEMPORAL_ADDRESS or a Temporal profile names the server; the embedded one is at the address `up` prints.
const client = await HoldfastClient.connect({ address: process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233' });
const id = `backend-${Date.now()}`;
const folder = mkdtempSync(join(tmpdir(), 'backend-'));
const file = join(folder, 'replies.yaml');
writeFileSync(file, JSON.stringify(replies));
try {
  const agent = client.agent(id);
  // Its sessions stay open when it ends: the last output is still to be read then.
  await agent.start({ task: 'Deploy the service', model: `scripted:${file}`, cwd: folder, keep: true });
  // An agent that fails while its script asks: then its error ends the wait.
  const [{ answer, reason, steps }] = await Promise.all([agent.result(), answerScript(client, id)]);
  console.log(`${reason} after ${steps} steps: ${answer}`);
} finally {
  // Nothing else closes them. There is none if the agent failed before.
  await client
    .session({ agent: id, session: 1 })
    .close('the example has ended')
    .catch(() => undefined);
  // Else the connection keeps the process alive.
  await client.close();
  rmSync(folder, { recursive: true });
}
