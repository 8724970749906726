// What a host offers before it has asked anybody.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HoldfastClient } from '../../../../client/holdfast-client';
import type { ToolsOffer } from '../../../../contracts/tools/offered-tools';
import { OfferedTools } from '../../../../tools/offered-tools';
import { OfferLooks } from '../../../../workers/host/offer-looks';

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'holdfast-offer-'))));
afterEach(() => rmSync(dataDir, { recursive: true }));

/** The names that are offered, and what is logged, if this is what was kept. */
function loaded(kept: string): { offered: string[]; logged: string[] } {
  writeFileSync(join(dataDir, 'offered-tools.pi.json'), kept);
  const logged: string[] = [];
  const source = new OfferedTools();
  const log = (message: string): void => void logged.push(message);
  new OfferLooks({ client: {} as HoldfastClient, host: 'pi', dataDir, source, log }).load();
  return { offered: source.tools().map(({ name }) => name), logged };
}

const tool = { name: 'a', description: 'It.', parameters: {}, result: null, effects: 'once' } as const;
const offer: ToolsOffer = { digest: 'd', tools: [tool], leftOut: { count: 0, names: [] } };

test('the tools known last are offered, and the log says if some did not fit', () => {
  expect(loaded(JSON.stringify(offer))).toEqual({ offered: ['a'], logged: [] });
  const less = { ...offer, leftOut: { count: 1, names: ['b'] } };
  expect(loaded(JSON.stringify(less))).toEqual({
    offered: ['a'],
    logged: [expect.stringContaining('too many tools') as string],
  });
});

test.each([
  ['no JSON', '{"digest"'],
  ['no offer', '{}'],
  ['no tool', '{"digest":"d","tools":[{}]}'],
])('a file that holds %s offers nothing, and stops no host', (_what, kept) => {
  expect(loaded(kept).offered).toEqual([]);
});
