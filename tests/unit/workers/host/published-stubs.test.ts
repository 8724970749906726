// Which stubs scripts find while a worker starts, works and stops.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OfferedTool } from '../../../../contracts/tools/offered-tools';
import { OfferedTools } from '../../../../tools/offered-tools';
import { createToolRegistry } from '../../../../tools/registry';
import { PublishedStubs } from '../../../../workers/host/published-stubs';
import { until } from '../../../helpers/until';

let folder: string;
let logged: string[];
let begun: PublishedStubs[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-stubs-'));
  [logged, begun] = [[], []];
});
afterEach(() => {
  for (const stubs of begun) stubs.stop();
  rmSync(folder, { recursive: true });
});

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

/** A worker whose source of tools connects when it is asked to. */
function worker(): Started {
  let settle = (): void => undefined;
  const settled = new Promise<void>((resolve) => (settle = resolve));
  const source = Object.assign(new OfferedTools(), { settled: () => settled });
  const tools = createToolRegistry([], [source]);
  const stubs = new PublishedStubs({ folder, tools, log: (text) => void logged.push(text), everyMs: 20 });
  begun.push(stubs);
  return { stubs, source, settle, started: stubs.start() };
}

/** Has connected, published its tool and stopped. */
async function earlierWorker(): Promise<void> {
  const { stubs, source, settle, started } = worker();
  source.replace([tool('mcp__a')]);
  settle();
  await started;
  await until(() => isPublished('mcp__a'));
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
  await until(() => isPublished('mcp__b'));
  expect(isPublished('mcp__a')).toBe(false);
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

/** Also for root, whom no mode of a folder stops: nothing can be written where a file is. */
async function whileUnwritable(work: () => Promise<void>): Promise<void> {
  const aside = `${folder}.aside`;
  renameSync(folder, aside);
  writeFileSync(folder, 'in the way');
  try {
    await work();
  } finally {
    rmSync(folder);
    renameSync(aside, folder);
  }
}

test('stubs that could not be written when the worker started are written once that is possible', async () => {
  await earlierWorker();
  const { source, settle } = worker();
  source.replace([tool('mcp__b')]);
  await whileUnwritable(async () => {
    settle();
    await until(() => logged.length > 0);
  });
  await until(() => isPublished('mcp__b'));
  expect(isPublished('mcp__a')).toBe(false);
  expect(logged).toEqual(['the tools of scripts could not be published']);
});

test('a change that cannot be written does not fail where it comes from, and is written once that is possible', async () => {
  await earlierWorker();
  const { source, settle } = worker();
  settle();
  await until(() => !isPublished('mcp__a'));
  await whileUnwritable(async () => {
    source.replace([tool('mcp__b')]);
    await until(() => logged.length > 0);
  });
  await until(() => isPublished('mcp__b'));
});
