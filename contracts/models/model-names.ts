// What models and their providers are called, and how providers are reached. Pure data.

/** OpenAI's chat completions or responses, or Anthropic's messages. */
export const WIRE_APIS = ['chat', 'responses', 'anthropic'] as const;
export type WireApi = (typeof WIRE_APIS)[number];

/** Providers that need no configuration. `scripted` replays replies from a file. */
export const BUILT_IN_PROVIDERS = ['scripted', 'openai', 'openai-chat', 'anthropic'] as const;
export type BuiltInProvider = (typeof BUILT_IN_PROVIDERS)[number];

const PROVIDER = '[a-z][a-z0-9_-]*';
export const PROVIDER_NAME = new RegExp(`^${PROVIDER}$`);
export const PROVIDER_NAME_RULE = 'a-z, 0-9, "_" and "-" after a letter';
/** `provider:name`; the name may hold anything. */
export const MODEL_NAME = new RegExp(`^${PROVIDER}:.+$`, 's');
