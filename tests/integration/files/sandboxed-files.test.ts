// Files that people copy are where the sandbox of the host lets code be, and nowhere else.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuditLog } from '../../../exec/host/audit-log';
import { HostAccess } from '../../../exec/host/host-access';
import { Sandbox } from '../../../exec/sandbox/sandbox';
import { openFiles } from '../../../exec/transfer/door/files-client';
import { FilesHost } from '../../../exec/transfer/door/files-host';
import { FilesDoor } from '../../../exec/transfer/door/files-door';
import { pathOf } from '../../../exec/transfer/names';
import { receiveTree } from '../../../exec/transfer/receiver/receive-tree';
import { sendTree } from '../../../exec/transfer/sender/send-tree';
import { noSandbox, sandboxOf } from '../../helpers/hosts/sandbox';
import { Seen, treeOf } from '../../helpers/hosts/transfers';

const missing = noSandbox();
const whereSandboxed = missing === undefined ? describe : describe.skip;

whereSandboxed(`with a sandbox${missing === undefined ? '' : ` (not checked: ${missing})`}`, () => {
  let root: string;
  let workspace: string;
  let outside: string;
  let here: string;
  let dataDir: string;
  let files: FilesHost;
  let door: FilesDoor;
  let sandbox: Sandbox;

  beforeAll(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-confined-')));
    [workspace, outside, here, dataDir] = ['work', 'shown', 'here', 'data'].map((name) =>
      join(root, name),
    ) as [...[string, string, string, string]];
    for (const folder of [workspace, outside, here]) mkdirSync(folder);
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, 'attach.local.token'), 'the token');
    writeFileSync(join(outside, 'shown'), 'shown to all');
    sandbox = new Sandbox(sandboxOf({ readable: [outside] }, { cwd: workspace, dataDir }));
    const access = new HostAccess(dataDir, 'local');
    const audit = new AuditLog(dataDir, 'local', () => undefined);
    const env = { PATH: process.env.PATH ?? '', NODE_OPTIONS: `--require ${join(workspace, 'evil.js')}` };
    writeFileSync(join(workspace, 'evil.js'), `require('fs').writeFileSync('${join(workspace, 'ran')}', '')`);
    files = new FilesHost({ host: 'local', cwd: workspace, env, sandboxOf: () => sandbox, access, audit });
    door = new FilesDoor({ dataDir, host: 'local', files });
    await door.open();
  });
  afterAll(() => {
    door.close();
    files.close();
    rmSync(root, { recursive: true });
  });

  async function put(from: string, to: string): Promise<Seen> {
    const seen = new Seen();
    const request = { is: 'put', base: null, path: pathOf(to), clobber: true } as const;
    const channel = await openFiles({ dataDir }, { agent: 'a', host: 'local', request });
    try {
      await sendTree(channel, { path: pathOf(from), observer: seen });
    } finally {
      channel.close();
    }
    return seen;
  }
  async function get(from: string, to: string): Promise<Seen> {
    const seen = new Seen();
    const request = { is: 'get', base: null, path: pathOf(from) } as const;
    const channel = await openFiles({ dataDir }, { agent: 'a', host: 'local', request });
    try {
      await receiveTree(channel, { target: pathOf(to), clobber: true, observer: seen });
    } finally {
      channel.close();
    }
    return seen;
  }

  test('a tree goes into the workspace and back, and none of its code runs', async () => {
    mkdirSync(join(here, 'tree'));
    writeFileSync(join(here, 'tree', 'file'), Buffer.alloc(2_000_000, 'x'));
    symlinkSync('/etc/shadow', join(here, 'tree', 'link'));
    await put(join(here, 'tree'), 'tree');
    expect(treeOf(join(workspace, 'tree'))).toEqual(treeOf(join(here, 'tree')));
    await get('tree', join(here, 'back'));
    expect(treeOf(join(here, 'back'))).toEqual(treeOf(join(here, 'tree')));
    expect(existsSync(join(workspace, 'ran'))).toBe(false);
  });

  test('nothing is written outside, not through a link that the agent has put in the workspace either', async () => {
    writeFileSync(join(here, 'new'), 'new');
    symlinkSync(outside, join(workspace, 'way-out'));
    for (const target of [join(outside, 'new'), 'way-out/new', 'way-out', `../shown/new`]) {
      const { outcomes } = await put(join(here, 'new'), target);
      expect(outcomes).toMatchObject([{ is: 'failed' }]);
    }
    expect(existsSync(join(outside, 'new'))).toBe(false);
    expect(readFileSync(join(outside, 'shown'), 'utf8')).toBe('shown to all');
  });

  test('what the sandbox hides is not read, not through a link either', async () => {
    symlinkSync(join(dataDir, 'attach.local.token'), join(workspace, 'peek'));
    symlinkSync(here, join(workspace, 'elsewhere'));
    for (const source of [join(dataDir, 'attach.local.token'), 'peek', 'elsewhere', join(here, 'new')])
      await expect(get(source, join(here, 'peeked'))).rejects.toMatchObject({ code: 'not_found' });
    expect(existsSync(join(here, 'peeked'))).toBe(false);
    await get(join(outside, 'shown'), join(here, 'seen'));
    expect(readFileSync(join(here, 'seen'), 'utf8')).toBe('shown to all');
  });

  test('a change of the host’s access ends a transfer that it no longer allows, and nothing is put there', async () => {
    const request = { is: 'put', base: null, path: pathOf('late'), clobber: true } as const;
    const channel = await openFiles({ dataDir }, { agent: 'a', host: 'local', request });
    await channel.send({ is: 'entry', n: 0, name: 'late', kind: 'file', mode: 0o644, size: 9 });
    await channel.sendData(Buffer.from('late'));
    const access = new HostAccess(dataDir, 'local');
    access.set('read-only');
    try {
      await expect(channel.next()).rejects.toThrow('the connection was lost');
    } finally {
      access.set('read-write');
      channel.close();
    }
    expect(existsSync(join(workspace, 'late'))).toBe(false);
  });

  test('a folder that each program has for itself is refused: nobody would see the file', async () => {
    writeFileSync(join(here, 'new'), 'new');
    const { outcomes } = await put(join(here, 'new'), '/tmp/new');
    expect(outcomes).toMatchObject([
      {
        is: 'failed',
        error: { code: 'file_failed', facts: { reason: expect.stringContaining('anew') as string } },
      },
    ]);
  });
});
