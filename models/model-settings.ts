// How a model is reached and what it costs: plain data, read from `holdfast.toml` or built in. It holds no key, only
// where to find it.
import type { BuiltInProvider, WireApi } from '../contracts/models/model-names';
import { REQUEST_MS, STREAM_IDLE_MS } from '../contracts/schemas/configuration/configuration';

export interface ProviderSettings {
  wireApi: WireApi;
  /** Null: the default of the vendor's SDK. */
  baseUrl: string | null;
  /** Environment variable for another base URL. */
  baseUrlVariable?: string;
  /** Where the key is; null: the provider needs none. */
  key: { variable: string } | { file: string } | null;
  headers: Readonly<Record<string, string>>;
  /** Header -> variable that holds its value; headers whose variable is not set are left out. */
  variableHeaders: Readonly<Record<string, string>>;
  /** A stream that is silent for this long is abandoned. */
  streamIdleMs: number;
  /** A call without a complete answer after this long is abandoned. */
  requestMs: number;
}

/** US dollars per million tokens. */
export interface Prices {
  input: number;
  /** For tokens read from the provider's cache. Default: same as `input`. */
  cachedInput?: number;
  /** For tokens written to the provider's cache, if that costs extra. Default: same as `input`. */
  cacheWrite?: number;
  output: number;
}

export interface ModelSettings {
  /** The most tokens that the model can read. */
  window?: number;
  /** The most tokens that it may write in one reply. */
  maxOutputTokens?: number;
  prices?: Prices;
  /** False: it cannot see images. Default true. */
  images?: boolean;
}

export interface ConfiguredModels {
  providers: Readonly<Record<string, ProviderSettings>>;
  /** Keyed by `provider:name`. */
  models: Readonly<Record<string, ModelSettings>>;
}

const vendor = (wireApi: WireApi, name: string): ProviderSettings => ({
  wireApi,
  baseUrl: null,
  baseUrlVariable: `${name}_BASE_URL`,
  key: { variable: `${name}_API_KEY` },
  headers: {},
  variableHeaders: {},
  streamIdleMs: STREAM_IDLE_MS,
  requestMs: REQUEST_MS,
});

const OPENAI_HEADERS = {
  'OpenAI-Organization': 'OPENAI_ORGANIZATION',
  'OpenAI-Project': 'OPENAI_PROJECT',
};

/** Built-in providers that are reached over HTTP. */
export const HTTP_PROVIDERS: Readonly<Record<Exclude<BuiltInProvider, 'scripted'>, ProviderSettings>> = {
  openai: { ...vendor('responses', 'OPENAI'), variableHeaders: OPENAI_HEADERS },
  'openai-chat': { ...vendor('chat', 'OPENAI'), variableHeaders: OPENAI_HEADERS },
  anthropic: vendor('anthropic', 'ANTHROPIC'),
};
