import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  configurationSource,
  readConfiguration,
  type Configuration,
} from '../../../workers/configuration/configuration';

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'holdfast-quota-'))));
afterEach(() => rmSync(dataDir, { recursive: true }));

function read(toml: string): Configuration {
  writeFileSync(join(dataDir, 'holdfast.toml'), toml);
  return readConfiguration(configurationSource({ dataDir }));
}

function faultsOf(toml: string): string {
  try {
    read(toml);
  } catch (err) {
    return String(err);
  }
  throw new Error('it was accepted');
}

test('[quota] has a limit of tokens and one of dollars, and neither may be nothing', () => {
  expect(read('[quota]\ntokens_per_day = 5_000_000\ndollars_per_day = 0.5').quota).toEqual({
    tokens: 5_000_000,
    costUsd: 0.5,
  });
  for (const none of ['0', '-1']) {
    expect(faultsOf(`[quota]\ntokens_per_day = ${none}`)).toContain('"quota.tokens_per_day" must be above 0');
    expect(faultsOf(`[quota]\ndollars_per_day = ${none}`)).toContain(
      '"quota.dollars_per_day" must be above 0',
    );
  }
  expect(faultsOf('[quota]\ntokens_per_day = 1.5')).toContain(
    '"quota.tokens_per_day" must be a whole number',
  );
  expect(faultsOf('[quota]\ntokens_per_day = "many"')).toContain('must be a number, got a text');
  expect(faultsOf('[quota]\ntokens = 5')).toContain('unknown key "tokens"');
});
