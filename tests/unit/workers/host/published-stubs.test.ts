// Which stubs scripts find while a worker starts, works and stops.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OfferedTool } from '../../../../contracts/tools/offered-tools';
import { OfferedTools } from '../../../../tools/offered-tools';
import { createToolRegistry } from '../../../../tools/registry';
import { PublishedStubs } from '../../../../workers/host/published-stubs';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'holdfast-stubs-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const tool = (name: string): OfferedTool => ({
  name,
  description: 'It.',
  parameters: { type: 'object' },
  result: null,
  effects: 'once',
});
const isPublished = (name: string): boolean =>
  (JSON.parse(readFileSync(join(folder, 'current', 'tools.json'), 'utf8')) as { name: string }[]).some(
    (one) => one.name === name,
  );

interface Started {
  stubs: PublishedStubs;
  source: OfferedTools;
  settle: () => void;
  started: Promise<void>;
}

/** A worker whose source of tools connects when it is told to. */
function worker(): Started {
  let settle = (): void => undefined;
  const settled = new Promise<void>((resolve) => (settle = resolve));
  const source = Object.assign(new OfferedTools(), { settled: () => settled });
  const tools = createToolRegistry([], [source]);
  const stubs = new PublishedStubs({ folder, tools, log: () => undefined });
  return { stubs, source, settle, started: stubs.start() };
}

/** Has connected, published its tool and stopped. */
async function earlierWorker(): Promise<void> {
  const { stubs, source, settle, started } = worker();
  source.replace([tool('mcp__a')]);
  settle();
  await started;
  stubs.stop();
}

test('the first worker of a host publishes at once what it knows', () => {
  worker();
  expect([isPublished('read_file'), isPublished('mcp__a')]).toEqual([true, false]);
});

test('the stubs of an earlier worker stay until the servers have connected; then each change is published', async () => {
  await earlierWorker();
  const { source, settle, started } = worker();
  source.replace([]);
  expect(isPublished('mcp__a')).toBe(true);
  source.replace([tool('mcp__b')]);
  expect(isPublished('mcp__b')).toBe(false);
  settle();
  await started;
  expect([isPublished('mcp__a'), isPublished('mcp__b')]).toEqual([false, true]);
  source.replace([]);
  expect(isPublished('mcp__b')).toBe(false);
});

test('a worker that stops before its servers have connected leaves the stubs of the earlier one', async () => {
  await earlierWorker();
  const { stubs, settle, started } = worker();
  stubs.stop();
  settle();
  await started;
  expect(isPublished('mcp__a')).toBe(true);
});
