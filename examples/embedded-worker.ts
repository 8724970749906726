// Holdfast's workers in one's own process, with an own tool and an own model. Run it against a Temporal server:
// `TEMPORAL_ADDRESS=127.0.0.1:7233 node dist/examples/embedded-worker.js`.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorkers, type ModelProvider } from 'holdfast/workers';
import { tools } from './own-tools';

/** Stands for a real one: it asks for the stock, then answers with what it was told. */
const storekeeper = (article: string): ModelProvider => ({
  // Its calls stand beside its text; see docs/dialects.md for the others.
  dialect: 'native',
  async reply({ messages }) {
    const stock = messages.find(({ role }) => role === 'tool');
    if (stock) return { text: `There are ${stock.text}.` };
    return { text: '', calls: [{ id: 'stock', tool: 'stock_level', args: JSON.stringify({ article }) }] };
  },
});

async function main(): Promise<void> {
  const workers = await createWorkers({
    address: process.env.TEMPORAL_ADDRESS,
    dataDir: mkdtempSync(join(tmpdir(), 'storekeeper-')),
    tools,
    models: { storekeeper },
  });
  // Until `shutdown`, SIGINT or SIGTERM. Shells that are open then live on for the next worker of the folder.
  const running = workers.run();

  const agent = workers.client.agent(`storekeeper-${Date.now()}`);
  await agent.start({ task: 'How many bolts are there?', model: 'storekeeper:bolts' });
  console.log((await agent.result()).answer);

  workers.shutdown();
  await running;
}

main().catch((err: unknown) => {
  console.error(err);
  process.exitCode = 1;
});
