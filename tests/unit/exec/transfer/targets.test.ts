// What a target that somebody names leads to: a host's process of one transfer, and a sender, in this process.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathOf } from '../../../../exec/transfer/names';
import type { Outcome } from '../../../../exec/transfer/outcomes';
import { sendTree } from '../../../../exec/transfer/sender/send-tree';
import { serveFiles, type FilesConfig } from '../../../../exec/transfer/serve-files';
import { channelPair, Seen } from '../../../helpers/transfers';

let root: string;
let from: string;
let to: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-targets-'));
  from = join(root, 'from');
  to = join(root, 'to');
  mkdirSync(from);
  mkdirSync(to);
  writeFileSync(join(from, 'file'), 'new');
});
afterEach(() => rmSync(root, { recursive: true }));

/** `path` and `base` as a client of an agent gives them. */
async function put(source: string, path: string, base = to): Promise<Outcome[]> {
  const [a, b] = await channelPair();
  const seen = new Seen();
  const config: FilesConfig = { cwd: pathOf(root), privateFolders: [], effect: 'mutates' };
  const request = { is: 'put', clobber: true, path: pathOf(path), base: pathOf(base) } as const;
  const served = serveFiles(b, request, config);
  try {
    await sendTree(a, { path: pathOf(source), observer: seen });
    return seen.outcomes;
  } finally {
    await served;
    a.close();
    b.close();
  }
}

test.each(['file', 'folder'])('a %s takes no place of an agent’s folder that is gone', async (kind) => {
  rmSync(to, { recursive: true });
  const outcomes = await put(kind === 'file' ? join(from, 'file') : from, '');
  expect(outcomes[0]).toMatchObject({
    is: 'failed',
    error: {
      code: 'not_found',
      facts: { got: to, next: expect.stringContaining('Make it first') as string },
    },
  });
  expect(existsSync(to)).toBe(false);
});

test('an empty path is the agent’s folder', async () => {
  await put(join(from, 'file'), '');
  await put(from, '');
  expect(readdirSync(to).sort()).toEqual(['file', 'from']);
});
