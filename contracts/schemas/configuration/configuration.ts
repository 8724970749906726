// Shape of `holdfast.toml`. Keys shared with Codex's `config.toml` keep their names. The file may hold secrets, so no
// fault may show a value.
import {
  BUILT_IN_PROVIDERS,
  MODEL_NAME,
  PROVIDER_NAME,
  PROVIDER_NAME_RULE,
  WIRE_APIS,
} from '../../models/model-names';
import { DECISIONS } from '../../tools/approvals';
import { ID_PATTERN, ID_RULE } from '../../ids';
import { LOG_LEVELS } from '../../text/log-levels';
import { DEFAULT_ASK_MS, DEFAULT_RULES, type PolicyRule } from '../../tools/policy';
import { checkpointsSchema } from './checkpoints-configuration';
import { encryptionSchema } from './encryption-configuration';
import { gatewaySchema } from './gateway-configuration';
import { quotaSchema } from '../quota-shapes';
import { secretsSchema } from './secrets-configuration';
import { sandboxSchema } from './sandbox-configuration';
import { storageSchema } from './storage-configuration';
import { telemetrySchema } from './telemetry-configuration';
import { webhookTable } from '../webhook-settings';
import { z } from '../zod';

const text = z.string().check(z.minLength(1));
const seconds = z.number().check(z.positive(), z.maximum(86_400));
const texts = z.array(text);
const values = z.record(text, z.string());

export const SERVER_NAME_PATTERN = /^[a-zA-Z0-9_-]+$/;
const STDIO_KEYS = ['args', 'env', 'env_vars', 'cwd'] as const;
const HTTP_KEYS = ['headers', 'http_headers', 'env_http_headers', 'bearer_token_env_var'] as const;

/** What is allowed, for each wrong key; empty if all is well. */
function transportFaults(server: Record<string, unknown>): string[] {
  const { command, url } = server;
  if ((command === undefined) === (url === undefined))
    return [`has ${command === undefined ? 'neither' : 'both'}, allowed one of "command" and "url"`];
  const wrong = (command === undefined ? STDIO_KEYS : HTTP_KEYS).filter((key) => server[key] !== undefined);
  const [has, belongs] = command === undefined ? ['url', 'command'] : ['command', 'url'];
  return wrong.map((key) => `has "${key}" beside "${has}", allowed beside "${belongs}"`);
}

const mcpServerSchema = z
  .strictObject({
    command: z.optional(text),
    args: z.optional(z.array(z.string())),
    env: z.optional(values),
    env_vars: z.optional(texts),
    cwd: z.optional(text),
    url: z.optional(z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })),
    headers: z.optional(values),
    http_headers: z.optional(values),
    env_http_headers: z.optional(z.record(text, text)),
    bearer_token_env_var: z.optional(text),
    enabled: z._default(z.boolean(), true),
    enabled_tools: z.optional(texts),
    disabled_tools: z._default(texts, []),
    startup_timeout_sec: z._default(seconds, 30),
    tool_timeout_sec: z._default(seconds, 60),
  })
  .check(
    z.superRefine((server, context) => {
      for (const message of transportFaults(server))
        context.addIssue({ code: 'custom', message, input: server });
    }),
  );

const serverName = z
  .string()
  .check(z.regex(SERVER_NAME_PATTERN, { error: 'must be named with only a-z, A-Z, 0-9, "_" and "-"' }));

const environmentKeys = z.record(text, text);
const milliseconds = z.number().check(z.positive(), z.maximum(86_400_000));
const tokens = z.int().check(z.positive());
const dollars = z.number().check(z.minimum(0));

/** A stream that is silent for this long is abandoned; Codex uses the same value. */
export const STREAM_IDLE_MS = 300_000;
/** A model call without a complete answer by then is abandoned. */
export const REQUEST_MS = 600_000;

const modelProviderSchema = z
  .strictObject({
    /** For people who read the file. */
    name: z.optional(text),
    base_url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
    env_key: z.optional(text),
    key_file: z.optional(text),
    wire_api: z._default(
      z.enum(WIRE_APIS, { error: `must be one of ${WIRE_APIS.map((api) => `"${api}"`).join(', ')}` }),
      'chat',
    ),
    http_headers: z._default(values, {}),
    env_http_headers: z._default(environmentKeys, {}),
    stream_idle_timeout_ms: z._default(milliseconds, STREAM_IDLE_MS),
    request_timeout_ms: z._default(milliseconds, REQUEST_MS),
  })
  .check(
    z.refine(({ env_key: variable, key_file: file }) => variable === undefined || file === undefined, {
      error: 'has both, allowed one of "env_key" and "key_file"',
    }),
  );

const providerName = z.string().check(
  z.regex(new RegExp(`^(?!(${BUILT_IN_PROVIDERS.join('|')})$)${PROVIDER_NAME.source.slice(1)}`), {
    error: `must be named with ${PROVIDER_NAME_RULE}, and not ${BUILT_IN_PROVIDERS.join(', ')}, which are built in`,
  }),
);

const modelName = z
  .string()
  .check(z.regex(MODEL_NAME, { error: 'must be named as provider:name, in quotes' }));

const modelSchema = z.strictObject({
  window: z.optional(tokens),
  max_output_tokens: z.optional(tokens),
  images: z.optional(z.boolean()),
  prices: z.optional(
    z.strictObject({
      input: dollars,
      cached_input: z.optional(dollars),
      cache_write: z.optional(dollars),
      output: dollars,
    }),
  ),
});

const decision = z.enum(DECISIONS, {
  error: `must be one of ${DECISIONS.map((one) => `"${one}"`).join(', ')}`,
});
const idKey = z.string().check(z.regex(ID_PATTERN, { error: `must be named with ${ID_RULE}` }));
const ruleKeys = z.partial(
  z.strictObject(
    Object.fromEntries(Object.keys(DEFAULT_RULES).map((rule) => [rule, decision])) as Record<
      PolicyRule,
      typeof decision
    >,
  ),
);
const policySchema = z.strictObject({
  ask_timeout_sec: z._default(z.number().check(z.positive(), z.maximum(30 * 86_400)), DEFAULT_ASK_MS / 1_000),
  rules: z._default(ruleKeys, {}),
  tools: z._default(z.record(text, decision), {}),
  hosts: z._default(z.record(idKey, decision), {}),
  agents: z._default(z.record(idKey, decision), {}),
});

const logSchema = z.strictObject({
  level: z._default(
    z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.map((level) => `"${level}"`).join(', ')}` }),
    'info',
  ),
  max_mb: z._default(z.int().check(z.positive()), 10),
  keep: z._default(z.int().check(z.minimum(0), z.maximum(99)), 3),
});

/** Which build of the workflows gets the tasks of runs that another one began. */
export const VERSIONING = ['auto-upgrade', 'pinned', 'off'] as const;
export type Versioning = (typeof VERSIONING)[number];

const deploymentSchema = z.strictObject({
  versioning: z._default(
    z.enum(VERSIONING, { error: `must be one of ${VERSIONING.map((one) => `"${one}"`).join(', ')}` }),
    'off',
  ),
});

export const configurationSchema = z.strictObject({
  features: z.prefault(z.strictObject({ unified_exec: z._default(z.boolean(), true) }), {}),
  tools: z.prefault(
    z.strictObject({
      modules: z._default(texts, []),
      interactive_transcript: z._default(z.boolean(), false),
    }),
    {},
  ),
  fetch: z.prefault(z.strictObject({ allow_private: z._default(texts, []) }), {}),
  dialects: z.prefault(
    z.strictObject({ tool_tag_start: z.optional(text), tool_tag_end: z.optional(text) }),
    {},
  ),
  prompts: z.prefault(z.strictObject({ folder: z.optional(text) }), {}),
  sandbox: z.prefault(sandboxSchema, {}),
  roles: z.prefault(z.strictObject({ folder: z._default(text, 'roles') }), {}),
  policy: z.prefault(policySchema, {}),
  mcp_servers: z._default(z.record(serverName, mcpServerSchema), {}),
  model_providers: z._default(z.record(providerName, modelProviderSchema), {}),
  models: z._default(z.record(modelName, modelSchema), {}),
  encryption: z.prefault(encryptionSchema, {}),
  secrets: z.prefault(secretsSchema, {}),
  storage: z.prefault(storageSchema, {}),
  checkpoints: z.prefault(checkpointsSchema, {}),
  quota: z.prefault(quotaSchema, {}),
  deployment: z.prefault(deploymentSchema, {}),
  webhooks: z._default(z.record(idKey, webhookTable), {}),
  gateway: z.prefault(gatewaySchema, {}),
  log: z.prefault(logSchema, {}),
  telemetry: z.prefault(telemetrySchema, {}),
});

export type McpServerEntry = z.infer<typeof mcpServerSchema>;
export type ModelProviderEntry = z.infer<typeof modelProviderSchema>;
export type ModelEntry = z.infer<typeof modelSchema>;
