// How a model is reached and what it costs: plain data, read from `holdfast.toml` or built in. No key is in it, only
// where the key is found.
import { REQUEST_MS, STREAM_IDLE_MS } from '../contracts/schemas/configuration';

/** How the provider is spoken to: OpenAI's chat completions or responses, or Anthropic's messages. */
export type WireApi = 'chat' | 'responses' | 'anthropic';

export interface ProviderSettings {
  wireApi: WireApi;
  /** Null: the one that the vendor's own SDK has. */
  baseUrl: string | null;
  /** Variable that names another base URL. */
  baseUrlVariable?: string;
  /** Where the key is; null: the provider wants none. */
  key: { variable: string } | { file: string } | null;
  headers: Readonly<Record<string, string>>;
  /** Header -> variable that holds its value; left out where that is not set. */
  variableHeaders: Readonly<Record<string, string>>;
  /** A stream that brings no byte for so long is given up. */
  streamIdleMs: number;
  /** A call that has no whole answer after so long is given up. */
  requestMs: number;
}

/** US dollars per million tokens. */
export interface Prices {
  input: number;
  /** Of tokens that came from the provider's cache. Default: as `input`. */
  cachedInput?: number;
  /** Of tokens that the provider wrote to its cache, where that costs extra. Default: as `input`. */
  cacheWrite?: number;
  output: number;
}

export interface ModelSettings {
  /** Tokens that the model reads at the most. */
  window?: number;
  /** Tokens that it may write in one reply. */
  maxOutputTokens?: number;
  prices?: Prices;
}

export interface ConfiguredModels {
  providers: Readonly<Record<string, ProviderSettings>>;
  /** By `provider:name`. */
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

export const BUILT_IN_PROVIDERS: Readonly<Record<string, ProviderSettings>> = {
  openai: { ...vendor('responses', 'OPENAI'), variableHeaders: OPENAI_HEADERS },
  'openai-chat': { ...vendor('chat', 'OPENAI'), variableHeaders: OPENAI_HEADERS },
  anthropic: vendor('anthropic', 'ANTHROPIC'),
};
