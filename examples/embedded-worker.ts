// Holdfast's workers in your own process, with your own tool and model. Run it against a Temporal server, which may
// have other workers, those of `holdfast up` among them: `TEMPORAL_ADDRESS=127.0.0.1:7233 node examples/embedded-worker.ts`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HoldfastClient } from 'holdfast';
import { createWorkers, type ModelProvider } from 'holdfast/workers';
import { tools } from './own-tools.ts';

/** In place of a real model: it asks for the stock, then answers with the result. */
const storekeeper = (article: string): ModelProvider => ({
  // Its calls are separate from its text; see docs/dialects.md for the others.
  dialect: 'native',
  async reply({ messages }) {
    const stock = messages.find(({ role }) => role === 'tool');
    if (stock) return { text: `There are ${stock.text}.` };
    return { text: '', calls: [{ id: 'stock', tool: 'stock_level', args: JSON.stringify({ article }) }] };
  },
});

async function ask(client: HoldfastClient): Promise<void> {
  const agent = client.agent(`storekeeper-${Date.now()}`);
  await agent.start({ task: 'How many bolts are there?', model: 'storekeeper:bolts' });
  console.log((await agent.result()).answer);
}

const dataDir = mkdtempSync(join(tmpdir(), 'storekeeper-'));
try {
  const workers = await createWorkers({
    address: process.env.TEMPORAL_ADDRESS,
    dataDir,
    // Workers of one queue offer the same: what only these have is served on a queue of their own.
    queue: 'storekeeper',
    // These agents need no shell. Name a host for one: its shells outlive the process, for the folder's next worker.
    host: null,
    tools,
    models: { storekeeper },
  });
  // Until `shutdown`, SIGINT or SIGTERM.
  const running = workers.run();
  try {
    // If the workers end first, no caller waits for an answer.
    await Promise.race([ask(workers.client), running]);
  } finally {
    // Also where the agent has failed: else the workers keep the process alive.
    workers.shutdown();
    await running;
  }
} finally {
  rmSync(dataDir, { recursive: true });
}
