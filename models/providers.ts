// Finds the provider for a model's name: built in, configured, or custom, passed in where the parts are composed.
import { PROVIDER_NAME, PROVIDER_NAME_RULE, type WireApi } from '../contracts/models/model-names';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { asJson } from '../contracts/text/as-json';
import { httpProvider, type HttpModel } from './http/http-provider';
import type { WireProtocol } from './http/wire-protocol';
import type { RefusedTools } from './http/tools/refused-tools';
import { nearestName } from './nearest-name';
import type { ModelProvider } from './provider';
import { scriptedProvider } from './scripted';
import { HTTP_PROVIDERS, type ConfiguredModels, type ProviderSettings } from './model-settings';

/** Keyed by the first part of `provider:name`; the function gets the rest, which may hold colons. */
export type ModelProviders = Readonly<Record<string, (name: string) => ModelProvider>>;

/** Finds the provider behind `provider:name`. Throws `model_unknown`. */
export type FindProvider = (model: string) => ModelProvider;

/** SDKs are loaded only when needed. */
const PROTOCOLS: Readonly<Record<WireApi, () => Promise<WireProtocol>>> = {
  chat: async () => (await import('./http/openai-chat')).openaiChat,
  responses: async () => (await import('./http/openai-responses')).openaiResponses,
  anthropic: async () => (await import('./http/anthropic')).anthropicMessages,
};

const NO_MODELS: ConfiguredModels = { providers: {}, models: {} };

/** The built-in, configured and custom providers. Throws `config_invalid` for names that are taken or not allowed. */
export function createProviders(own: ModelProviders = {}, configured = NO_MODELS): FindProvider {
  const overHttp = Object.entries({ ...HTTP_PROVIDERS, ...configured.providers });
  const builtIn: ModelProviders = {
    scripted: scriptedProvider,
    ...Object.fromEntries(overHttp.map(([kind, provider]) => [kind, creator(kind, provider, configured)])),
  };
  const faults = Object.keys(own).flatMap((name) => [
    ...(Object.hasOwn(builtIn, name)
      ? [`model provider ${name}: the name is taken by a built-in or configured one`]
      : []),
    ...(typeof own[name] === 'function'
      ? []
      : [`model provider ${name}: got ${asJson(own[name])}, allowed a function that gives a provider`]),
    ...(PROVIDER_NAME.test(name) ? [] : [`model provider "${name}": allowed ${PROVIDER_NAME_RULE}`]),
  ]);
  if (faults.length > 0) throw new HoldfastError('config_invalid', { faults: faults.join('; ') });
  const providers = { ...builtIn, ...own };
  return (model) => {
    const [kind = '', ...name] = model.split(':');
    const create = Object.hasOwn(providers, kind) ? providers[kind] : undefined;
    if (!create) {
      const allowed = Object.keys(providers).map((known) => `${known}:NAME`);
      const near = nearestName(kind, Object.keys(providers));
      const guess = near === undefined ? {} : { guess: [near, ...name].join(':') };
      throw new HoldfastError('model_unknown', { got: model, allowed: allowed.join(', '), ...guess });
    }
    return checkedProvider(model, create(name.join(':')));
  };
}

/** Checks the provider of someone's own function, which no compiler may have checked. */
function checkedProvider(model: string, provider: ModelProvider | null | undefined): ModelProvider {
  if (typeof provider?.reply === 'function') return provider;
  const got = provider instanceof Promise ? 'a promise' : asJson(provider);
  const faults = `model ${model}: its provider's function gave ${got}, allowed a provider: { reply }`;
  throw new HoldfastError('config_invalid', { faults });
}

function creator(
  kind: string,
  provider: ProviderSettings,
  { models }: ConfiguredModels,
): (name: string) => ModelProvider {
  const refused: HttpModel['refused'] = new Set();
  const cutStreams: HttpModel['cutStreams'] = new Map();
  const refusedTools: RefusedTools = new Map();
  return (name) => {
    const model = `${kind}:${name}`;
    if (!name) throw new HoldfastError('model_unknown', { got: model, allowed: `${kind}:NAME` });
    return httpProvider({
      model,
      name,
      provider,
      settings: models[model] ?? {},
      refused,
      refusedTools,
      cutStreams,
      protocol: PROTOCOLS[provider.wireApi],
    });
  };
}
