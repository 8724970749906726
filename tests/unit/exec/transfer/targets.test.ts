// What a target that somebody names leads to: a host's process of one transfer, and a sender, in this process.
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathOf } from '../../../../exec/transfer/names';
import type { Outcome } from '../../../../exec/transfer/outcomes';
import { sendTree } from '../../../../exec/transfer/sender/send-tree';
import { serveFiles, type FilesConfig } from '../../../../exec/transfer/serve-files';
import { channelPair, Seen } from '../../../helpers/hosts/transfers';

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
    a.close();
    await served;
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

test.each(['pipe', 'to-pipe', ''])(
  'a pipe is not replaced, whether it is named or not: %j',
  async (named) => {
    execFileSync('mkfifo', [join(to, 'pipe')]);
    symlinkSync('pipe', join(to, 'to-pipe'));
    if (named === '') renameSync(join(from, 'file'), join(from, 'pipe'));
    const source = named === '' ? `${from}/.` : join(from, 'file');
    const failed = (await put(source, named)).filter(({ is }) => is === 'failed');
    expect(failed).toMatchObject([
      {
        error: {
          code: 'file_failed',
          facts: {
            reason: expect.stringContaining('a named pipe has this name') as string,
            next: expect.any(String) as string,
          },
        },
      },
    ]);
    expect(lstatSync(join(to, 'pipe')).isFIFO()).toBe(true);
    expect(lstatSync(join(to, 'to-pipe')).isSymbolicLink()).toBe(true);
    expect(readdirSync(to).filter((name) => name.startsWith('.holdfast'))).toEqual([]);
  },
);

test('a link does not replace a pipe', async () => {
  execFileSync('mkfifo', [join(to, 'link')]);
  symlinkSync('somewhere', join(from, 'link'));
  expect(await put(`${from}/.`, '')).toContainEqual(
    expect.objectContaining({ is: 'failed', path: './link' }),
  );
  expect(lstatSync(join(to, 'link')).isFIFO()).toBe(true);
});

test.each([
  ['relative link', () => join('..', 'elsewhere', 'real')],
  ['absolute link', () => join(root, 'elsewhere', 'real')],
])('a file named by a link gets the content, and the link stays: %s', async (_how, leadsTo) => {
  mkdirSync(join(root, 'elsewhere'));
  writeFileSync(join(root, 'elsewhere', 'real'), 'old');
  symlinkSync(leadsTo(), join(to, 'link'));
  await put(join(from, 'file'), 'link');
  expect(lstatSync(join(to, 'link')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(root, 'elsewhere', 'real'), 'utf8')).toBe('new');
  expect(readdirSync(join(root, 'elsewhere'))).toEqual(['real']);
});

test('a link to nothing that somebody names is refused, and stays', async () => {
  symlinkSync('nowhere', join(to, 'link'));
  expect(await put(join(from, 'file'), 'link')).toMatchObject([
    { is: 'failed', error: { code: 'file_failed', facts: { got: join(to, 'link') } } },
  ]);
  expect(readlinkSync(join(to, 'link'))).toBe('nowhere');
  expect(readdirSync(to)).toEqual(['link']);
});

test('a pipe of a process, as `<(...)` names it, is refused as a pipe, with the way that copies it', async () => {
  const pipe = join(to, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const fd = openSync(pipe, constants.O_RDWR);
  rmSync(pipe);
  try {
    await expect(put(`/proc/self/fd/${fd}`, 'x')).rejects.toMatchObject({
      code: 'invalid_input',
      facts: {
        got: expect.stringContaining('a named pipe') as string,
        next: expect.stringContaining('holdfast cp - AGENT:PATH') as string,
      },
    });
  } finally {
    closeSync(fd);
  }
});
