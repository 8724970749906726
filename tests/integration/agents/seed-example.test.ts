// The example of the document that this system was asked for from, verbatim (tests/fixtures/seed-example.py).
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { packageRoot } from '../../../system/package-root';
import { call, scratch, testClient, uniqueId, type Scratch } from '../../helpers/engines/temporal';

const EXAMPLE = readFileSync(join(packageRoot(), 'tests', 'fixtures', 'seed-example.py'), 'utf8');

let client: HoldfastClient;
let files: Scratch;
let checkout: string;
beforeAll(async () => {
  files = scratch();
  client = await testClient();
});
afterAll(async () => {
  files.remove();
  await client.close();
});
beforeEach(() => {
  checkout = mkdtempSync(join(tmpdir(), 'holdfast-checkout-'));
  mkdirSync(join(checkout, 'src'));
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    writeFileSync(join(checkout, 'src', `${name}.rs`), 'fn main() {}\n');
});
afterEach(() => rmSync(checkout, { recursive: true, force: true }));

/** The order in which `find` lists them is the folder's own. */
async function listed(): Promise<string[]> {
  const session = client.session({ agent: uniqueId('seed'), session: 0 }, { cwd: checkout });
  const { output } = await session.exec({ code: "find src -name '*.rs'" });
  await session.close('done');
  return output.trim().split(/\s+/);
}

async function resultOf(tool: string, args: object): Promise<string> {
  const agent = client.agent(uniqueId('seed'));
  const model = files.model([{ text: call(tool, args) }, { text: 'done' }]);
  await agent.start({ task: 'x', cwd: checkout, model });
  await agent.result();
  const { messages } = await agent.transcript();
  return messages.flatMap((message) => (message.role === 'tool' ? [message.content] : [])).join();
}

test.each([
  ['exec_command', { cmd: `python3 - <<'END'\n${EXAMPLE}END`, yield_time_ms: 30_000 }],
  ['code_execution_tool', { runtime: 'python', code: EXAMPLE }],
])(
  'the example finds seven files and names the two of the first five that hold TODO, in one call of %s',
  async (tool, args) => {
    const order = await listed();
    expect(order).toHaveLength(7);
    for (const index of [1, 3, 6]) writeFileSync(join(checkout, order[index] ?? ''), '// TODO: all of it\n');
    const lines = (await resultOf(tool, args)).replaceAll('\r', '').split('\n');
    const from = lines.indexOf('Found 7 files. Analyzing...');
    expect(lines.slice(from, from + 3)).toEqual([
      'Found 7 files. Analyzing...',
      `Found TODO in ${order[1]}`,
      `Found TODO in ${order[3]}`,
    ]);
    expect(lines.filter((line) => line.startsWith('Found TODO'))).toHaveLength(2);
  },
  60_000,
);
