// Lists the agents that wait for somebody, and says what each waits for.
// Run it against a server with a worker: `npx holdfast up`, then `node examples/list-agents.ts [TEXT]`.
import { HoldfastClient } from 'holdfast';

const client = await HoldfastClient.connect({ address: process.env.TEMPORAL_ADDRESS ?? '127.0.0.1:7233' });
const [text] = process.argv.slice(2);
try {
  // From the server's lists: one request for a page of agents, and no worker has to answer.
  for await (const { id, state, waitsFor, message } of client.agents.list({ text })) {
    console.log(`${id}: ${state}, waits for ${waitsFor}: ${message ?? 'no message yet'}`);
    if (state !== 'working') continue;
    // From the agent, its turn and its sessions: what one of them waits for in detail.
    const { turn, shells, waits } = await client.agent(id).state();
    console.log(`  step ${turn?.step}: ${turn?.doing}; sessions: ${shells.length}; waits for ${waits?.for}`);
  }
} finally {
  // Else the connection keeps the process alive.
  await client.close();
}
