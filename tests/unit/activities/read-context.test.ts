import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readContext } from '../../../activities/read-context';

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

test('of a file that is too large the model sees the beginning and how much is left out', async () => {
  writeFileSync(join(folder, 'large'), 'a'.repeat(3_000_000));
  const text = await readContext(folder, ['large']);
  expect(text?.length).toBeLessThan(70_000);
  expect(text).toContain('2000000 bytes more are not shown');
});

test('on a host with a sandbox no link that was made in the workspace leads out of it', async () => {
  const outside = mkdtempSync(join(tmpdir(), 'holdfast-outside-'));
  try {
    writeFileSync(join(outside, 'key'), 'canary');
    symlinkSync(join(outside, 'key'), join(folder, 'LINKED.md'));
    writeFileSync(join(folder, 'OWN.md'), 'own');
    const paths = ['LINKED.md', 'OWN.md', join(outside, 'key')];
    const text = await readContext(folder, paths.slice(0, 2), folder);
    expect(text).toContain('own');
    expect(text).not.toContain('canary');
    // Named outside by whoever started the agent.
    expect(await readContext(folder, paths.slice(2), folder)).toContain('canary');
    expect(await readContext(folder, paths.slice(0, 1))).toContain('canary');
  } finally {
    rmSync(outside, { recursive: true });
  }
});
