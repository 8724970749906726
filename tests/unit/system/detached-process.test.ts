// A process that outlives its starter: what is said if it cannot be started, and who waits for a word.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDetached, waitForTurn, type Detached } from '../../../system/processes/detached-process';

const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-detached-'));
afterAll(() => rmSync(dataDir, { recursive: true }));

test('a process that cannot be started is told as such, with the reason, and ends no one', async () => {
  const place = { dataDir, log: join(dataDir, 'log'), record: join(dataDir, 'started.json') };
  const choice: Detached<never> = { ...place, name: 'It', args: [], env: {}, readyAs: () => undefined };
  const node = jest.replaceProperty(process, 'execPath', join(dataDir, 'no-node'));
  try {
    expect(await startDetached(choice)).toMatchObject({
      ended: expect.stringContaining('ENOENT') as unknown,
    });
    // What was sent to it fails a moment later.
    await new Promise((resolve) => setTimeout(resolve, 100));
  } finally {
    node.restore();
  }
});

test('a process that was started in another way does not wait for a word', async () => {
  await waitForTurn();
});
