// The models in `holdfast.toml`: how to reach providers, facts about models. Reads no key.
import { resolve } from 'node:path';
import type { ModelEntry, ModelProviderEntry } from '../../contracts/schemas/configuration/configuration';
import type { ConfiguredModels, ModelSettings, ProviderSettings } from '../../models/model-settings';

/** Paths are relative to `folder`. */
export function configuredModels(
  providers: Readonly<Record<string, ModelProviderEntry>>,
  models: Readonly<Record<string, ModelEntry>>,
  folder: string,
): ConfiguredModels {
  return {
    providers: mapValues(providers, (entry) => providerSettings(entry, folder)),
    models: mapValues(models, modelSettings),
  };
}

const mapValues = <T, R>(all: Readonly<Record<string, T>>, map: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(all).map(([name, value]) => [name, map(value)]));

function providerSettings(entry: ModelProviderEntry, folder: string): ProviderSettings {
  const { env_key: variable, key_file: file } = entry;
  const keyFile = file === undefined ? null : { file: resolve(folder, file) };
  return {
    wireApi: entry.wire_api,
    baseUrl: entry.base_url,
    key: variable === undefined ? keyFile : { variable },
    headers: entry.http_headers,
    variableHeaders: entry.env_http_headers,
    streamIdleMs: entry.stream_idle_timeout_ms,
    requestMs: entry.request_timeout_ms,
  };
}

function modelSettings(entry: ModelEntry): ModelSettings {
  const { window, max_output_tokens: maxOutputTokens, prices, images } = entry;
  return {
    ...(images !== undefined && { images }),
    ...(window !== undefined && { window }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(prices && {
      prices: {
        input: prices.input,
        output: prices.output,
        ...(prices.cached_input !== undefined && { cachedInput: prices.cached_input }),
        ...(prices.cache_write !== undefined && { cacheWrite: prices.cache_write }),
      },
    }),
  };
}
