// What two workers of one queue of agents must have in common, as the second one learns.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Offer } from '../../../contracts/sessions/claims';
import { differencesOf, fingerprintOf, offerOf } from '../../../workers/agents/agents-offer';
import { configurationSource, readConfiguration } from '../../../workers/configuration/configuration';

let dataDir: string;
beforeEach(() => (dataDir = mkdtempSync(join(tmpdir(), 'holdfast-offer-'))));
afterEach(() => rmSync(dataDir, { recursive: true }));

function offer(toml: string, env: NodeJS.ProcessEnv = {}): Offer {
  writeFileSync(join(dataDir, 'holdfast.toml'), toml);
  const configuration = readConfiguration(configurationSource({ dataDir }));
  return offerOf({ tools: [], ownTools: [], ownModels: {}, configuration, env });
}

const KEYS = '[encryption]\nkeys = [{ id = "k", file = "k.key" }]\n';
const PROVIDER = '[model_providers.house]\nbase_url = "https://models.example/v1"\nenv_key = "HOUSE_KEY"\n';

test.each<[string, () => Offer, () => Offer, RegExp]>([
  [
    'the key of a provider',
    () => offer('', { OPENAI_API_KEY: 'sk-one' }),
    () => offer(''),
    /^model provider openai \(with key there, without key here\), model provider openai-chat \(.* without key here\)$/,
  ],
  [
    'the key of a provider of the configuration',
    () => offer(PROVIDER, { HOUSE_KEY: 'sk-one' }),
    () => offer(PROVIDER),
    /^model provider house \(with key there, without key here\)$/,
  ],
  [
    'the need of a key',
    () => offer(PROVIDER),
    () => offer(PROVIDER.replace(/env_key.*/, '')),
    /^model provider house \(without key there, no key needed here\)$/,
  ],
  ['encryption', () => offer(KEYS), () => offer(''), /^encryption \(k there, none here\)$/],
  [
    'encryption.required',
    () => offer(`${KEYS}required = true\n`),
    () => offer(KEYS),
    /^encryption\.required \(true there, false here\)$/,
  ],
])('a second worker is told that it differs in %s', (_what, there, here, difference) => {
  const [first, second] = [there(), here()];
  expect(differencesOf(first, second)).toMatch(difference);
  expect(fingerprintOf(first)).not.toBe(fingerprintOf(second));
});

test('another key of the same provider is no difference, and none is in the offer', () => {
  const [first, second] = ['sk-one', 'sk-two'].map((key) => offer(PROVIDER, { HOUSE_KEY: key }));
  expect(second).toEqual(first);
  expect(JSON.stringify(first)).not.toContain('sk-');
});
