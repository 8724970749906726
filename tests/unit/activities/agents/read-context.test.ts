import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readContext } from '../../../../activities/agents/read-context';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-context-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('pipes and devices among the context are left out, as skills too: neither is waited for', async () => {
  writeFileSync(join(folder, 'AGENTS.md'), 'Be kind.');
  mkdirSync(join(folder, 'skills', 'stuck'), { recursive: true });
  execFileSync('mkfifo', [join(folder, 'pipe'), join(folder, 'skills', 'stuck', 'SKILL.md')]);
  symlinkSync('/dev/zero', join(folder, 'zeros'));
  const text = await readContext(folder, ['pipe', 'zeros', 'skills', 'AGENTS.md']);
  expect(text?.match(/<file path="[^"]*">/g)).toEqual(['<file path="AGENTS.md">']);
});

test('of a file that is too large, the model sees the beginning and how much is left out', async () => {
  writeFileSync(join(folder, 'large'), 'a'.repeat(3_000_000));
  const text = await readContext(folder, ['large']);
  expect(text?.length).toBeLessThan(70_000);
  expect(text).toContain('2000000 bytes more are not shown');
});

describe('on a host with a sandbox', () => {
  let outside: string;
  const shows = (): boolean => true;
  beforeEach(() => {
    outside = mkdtempSync(join(tmpdir(), 'holdfast-outside-'));
    writeFileSync(join(outside, 'key'), 'canary');
    writeFileSync(join(folder, 'OWN.md'), 'own');
  });
  afterEach(() => rmSync(outside, { recursive: true }));

  test('no link that was made in a folder that can be written leads out of it', async () => {
    symlinkSync(join(outside, 'key'), join(folder, 'LINKED.md'));
    symlinkSync(outside, join(folder, 'skills'));
    const paths = ['LINKED.md', 'OWN.md', 'skills/key', join(outside, 'key')];
    for (const roots of [[folder], ['/somewhere', folder]]) {
      const text = await readContext(folder, paths.slice(0, 3), { roots, shows });
      expect(text).toContain('own');
      expect(text).not.toContain('canary');
      // Named outside by the person who started the agent.
      expect(await readContext(folder, paths.slice(3), { roots, shows })).toContain('canary');
    }
    expect(await readContext(folder, paths.slice(0, 1))).toContain('canary');
  });

  test('a working folder named through a link is the one that the link leads to', async () => {
    symlinkSync(join(outside, 'key'), join(folder, 'LINKED.md'));
    symlinkSync(folder, join(outside, 'work'));
    const sandbox = { roots: [folder], shows };
    const text = await readContext(join(outside, 'work'), ['LINKED.md', 'OWN.md'], sandbox);
    expect(text).toContain('own');
    expect(text).not.toContain('canary');
  });

  test('no link leads to what the sandbox hides in the same folder', async () => {
    mkdirSync(join(folder, 'hidden'));
    writeFileSync(join(folder, 'hidden', 'key'), 'canary');
    symlinkSync(join(folder, 'hidden', 'key'), join(folder, 'LINKED.md'));
    const hides = (path: string): boolean => !path.startsWith(join(folder, 'hidden'));
    const sandbox = { roots: [folder], shows: hides };
    const text = await readContext(folder, ['LINKED.md', 'OWN.md'], sandbox);
    expect(text).toContain('own');
    expect(text).not.toContain('canary');
  });
});
