// What is left in a holder of a shell that could not be opened.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as pty from 'node-pty';
import { Shell } from '../../../../exec/holder/shell/shell';
import { until } from '../../../helpers/until';

jest.mock('node-pty', () => ({ spawn: jest.fn() }));

const descriptors = (): number => readdirSync('/proc/self/fd').length;

test('a shell that cannot be opened leaves no descriptors open, however often it is tried', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-shell-'));
  jest.mocked(pty.spawn).mockImplementation(() => {
    throw new Error('forkpty(3) failed.');
  });
  const open = (): Shell =>
    new Shell({ directory: join(folder, 'epoch-1'), cwd: folder, env: {}, treeKill: 'process-search' });
  expect(open).toThrow('forkpty');
  const before = descriptors();
  for (let attempt = 0; attempt < 5; attempt++) expect(open).toThrow('forkpty');
  await until(() => descriptors() <= before);
  rmSync(folder, { recursive: true });
});
