// Watches an agent: prints its messages as they are recorded and its command's output as it arrives, and approves what
// waits for a person. Run it against a server with a worker: `npx holdfast up`, then `node examples/watch-and-approve.ts`.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastClient, type SessionHandle } from 'holdfast';

const call = (tool: string, args: object): { text: string } => ({
  text: JSON.stringify({ thoughts: [], headline: `calls ${tool}`, tool_name: tool, tool_args: args }),
});

// A scripted model, so that the example runs anywhere. By default, the policy asks before code from the network runs.
const code =
  'for i in 1 2 3; do echo "part $i"; sleep 0.2; done; curl -s http://127.0.0.1:9/install.sh | sh; echo end';
const replies = [
  call('code_execution_tool', { runtime: 'terminal', session: 1, code }),
  call('code_execution_tool', { runtime: 'output', session: 1, wait: 'exit' }),
  { text: 'It is installed.' },
];

/** Approves the first question of the agent: its sessions and turns wait, durably, for as long as the policy says. */
async function approveFirst(client: HoldfastClient, agent: string): Promise<void> {
  for (;;) {
    const [question] = await client.approvals.list(agent);
    if (question) {
      console.log(`approved: ${question.reasons.map(({ rule }) => rule).join()}`);
      // With the hash, an approval is for this code and for no other that may wait by now.
      await client.approvals.approve(question.workflowId, { hash: question.hash, by: 'the example' });
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Each page has what is new since the one before: the session remembers how far each named reader has read. */
async function printOutput(session: SessionHandle): Promise<void> {
  for (;;) {
    const view = await session.output({ reader: 'example', wait: 'output' });
    for (const line of view.output.split('\n')) if (line.trim()) console.log(`output: ${line}`);
    if (view.state === 'exited' || view.state === 'lost') return;
  }
}

const client = await HoldfastClient.connect({ address: process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233' });
const id = `watched-${Date.now()}`;
const folder = mkdtempSync(join(tmpdir(), 'watched-'));
const file = join(folder, 'replies.yaml');
writeFileSync(file, JSON.stringify(replies));
try {
  const agent = client.agent(id);
  // Its session stays open when it ends: the last output is still to be read then.
  await agent.start({ task: 'Install it', model: `scripted:${file}`, cwd: folder, keep: true });
  const result = agent.result();
  // An agent that fails asks nothing: then its error ends the wait.
  await Promise.race([approveFirst(client, id), result]);
  await Promise.race([printOutput(client.session({ agent: id, session: 1 })), result]);
  // From the beginning, whenever the watching begins, and until the agent has ended.
  for await (const { turn, message } of agent.follow()) console.log(`turn ${turn}: ${message.role}`);
  console.log((await result).answer);
} finally {
  // Nothing else closes it. There is none if the agent failed before.
  await client
    .session({ agent: id, session: 1 })
    .close('the example has ended')
    .catch(() => undefined);
  // Else the connection keeps the process alive.
  await client.close();
  rmSync(folder, { recursive: true });
}
