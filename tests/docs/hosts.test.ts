// docs/hosts.md: its table of errors is what the catalogue holds about hosts, its configuration what counts without one.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HOST_ERRORS } from '../../contracts/errors/host-errors';
import { DEFAULT_QUOTAS } from '../../contracts/sessions/quotas';
import { readConfiguration } from '../../workers/configuration/configuration';
import { docBlocks, docTable } from '../helpers/docs/doc-blocks';

test('every error about hosts is in the table, and no other', () => {
  const named = docTable('hosts.md', 'Error').map(([code = '']) => code.replaceAll('`', ''));
  expect(named.sort()).toEqual(Object.keys(HOST_ERRORS).sort());
});

test('the limits of the disk are the defaults, and all there are', () => {
  const [block] = docBlocks('hosts.md').filter(({ language }) => language === 'toml');
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-docs-'));
  const file = join(folder, 'holdfast.toml');
  writeFileSync(file, block?.code ?? '');
  const { storage } = readConfiguration({ file, isNamed: true, env: {}, programEnv: {} });
  rmSync(folder, { recursive: true });
  expect(storage).toEqual({ ...DEFAULT_QUOTAS, bucket: null });
  expect(block?.code.match(/^\w+ = /gm)).toHaveLength(Object.keys(DEFAULT_QUOTAS).length);
});
