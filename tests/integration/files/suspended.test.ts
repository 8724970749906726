// A transfer that stands still while another one finishes its file: it must not write to that when it goes on.
import { randomBytes } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Channel } from '../../../exec/transfer/channel';
import { pathOf } from '../../../exec/transfer/names';
import { sendTree } from '../../../exec/transfer/sender/send-tree';
import type { FilesConfig } from '../../../exec/transfer/serve-files';
import type { FilesRequest } from '../../../exec/transfer/transfer-messages';
import { compiledEntry } from '../../../system/package-root';
import { copy, Seen } from '../../helpers/hosts/transfers';
import { until } from '../../helpers/until';

const SIZE = 40_000_000;
let root: string;
let to: string;
let file: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-suspended-'));
  to = join(root, 'to');
  mkdirSync(to);
  file = join(root, 'file');
  writeFileSync(file, randomBytes(SIZE));
});
afterEach(() => rmSync(root, { recursive: true }));

const parts = (): string[] => readdirSync(to).filter((name) => name.endsWith('.part'));
const partSize = (): number => statSync(join(to, parts()[0] ?? ''), { throwIfNoEntry: false })?.size ?? 0;

/** The process that receives on a host, with the connection to it. */
function receiver(clobber: boolean): { child: ChildProcess; channel: Channel } {
  const config: FilesConfig = { cwd: pathOf(to), privateFolders: [], effect: 'mutates' };
  const request: FilesRequest = { is: 'put', clobber, base: null, path: pathOf(join(to, 'file')) };
  const args = [compiledEntry('exec/transfer/main.js'), JSON.stringify(config), JSON.stringify(request)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  if (!child.stdin || !child.stdout) throw new Error('it was started without pipes');
  return { child, channel: new Channel(child.stdout, child.stdin) };
}

test.each([
  ['replaced', true],
  ['kept', false],
])(
  'a suspended transfer does not write to the file that another one finished (files are %s)',
  async (_how, clobber) => {
    const { child, channel } = receiver(clobber);
    const seen = new Seen();
    let isSuspended = false;
    seen.moved = (bytes) => {
      seen.bytes += bytes;
      if (!isSuspended && partSize() > 4_000_000) isSuspended = child.kill('SIGSTOP');
    };
    const sending = sendTree(channel, { path: pathOf(file), observer: seen });
    sending.catch(() => undefined);
    await until(() => isSuspended);
    const again = await copy(file, join(to, 'file'), { clobber });
    expect(again.receiver.of('done')).toEqual(['file']);
    expect(again.receiver.thereBefore).toBeGreaterThan(4_000_000);
    expect(readdirSync(to)).toEqual(['file']);
    writeFileSync(join(to, 'file'), 'an edit', { flag: 'r+' });
    const edited = readFileSync(join(to, 'file'));
    const { mtimeMs } = statSync(join(to, 'file'));
    child.kill('SIGCONT');
    await sending;
    channel.close();
    await once(child, 'exit');
    expect(readFileSync(join(to, 'file')).equals(edited)).toBe(true);
    expect(statSync(join(to, 'file')).mtimeMs).toBe(mtimeMs);
    expect(readdirSync(to)).toEqual(['file']);
    expect(seen.outcomes).toMatchObject([
      {
        is: 'failed',
        error: { code: 'file_failed', facts: { reason: expect.stringContaining('took it over') as string } },
      },
    ]);
  },
  30_000,
);
