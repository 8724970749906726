// Reads `holdfast.toml`. Its values may be secrets: faults are reported by place, never by value.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import type * as z from 'zod/mini';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { DailyQuota } from '../../contracts/models/daily-quota';
import { DEFAULT_RULES, type PolicySettings } from '../../contracts/tools/policy';
import { MIB, type StorageSettings } from '../../contracts/sessions/quotas';
import {
  configurationSchema,
  type McpServerEntry,
  type Versioning,
} from '../../contracts/schemas/configuration/configuration';
import type { CheckpointSettings } from '../../contracts/workspaces/settings';
import type { LogLevel } from '../../contracts/text/log-levels';
import type { EncryptionSettings } from '../../encryption/encryption-settings';
import { sessionEnvironment } from '../../exec/host/session-environment';
import type { SandboxChoice } from '../../exec/sandbox/open-sandbox';
import type { DialectOptions } from '../../models/dialects/dialects';
import { nearestName } from '../../models/nearest-name';
import type { McpServerSettings } from '../../tools/mcp/mcp-settings';
import type { ConfiguredModels } from '../../models/model-settings';
import type { BuiltInOptions } from '../../tools/registry';
import { ALLOWED_PRIVATE, isAllowedPrivate } from '../../system/address-guard';
import type { LogLimits } from '../../system/log/bounded-log';
import { configuredCheckpoints } from './configured-checkpoints';
import { configuredEncryption, encryptionKeys } from './configured-encryption';
import { configuredGateway, gatewayKeys, type GatewaySettings } from './configured-gateway';
import { configuredModels } from './configured-models';
import { configuredSecrets, type SecretSettings } from './configured-secrets';
import { configuredSandbox } from './configured-sandbox';
import { configuredStorage } from './configured-storage';
import { configuredTelemetry, type TelemetrySettings } from './configured-telemetry';
import { chosenConfig } from './recorded-choice';
import { configuredWebhooks, type ConfiguredWebhook } from './configured-webhooks';

export interface Configuration {
  features: { unifiedExec: boolean };
  /** Modules with the user's own tools, by absolute path. */
  modules: readonly string[];
  tools: { interactiveTranscript: boolean };
  fetch: { allowPrivate: readonly string[] };
  /** Folder with the files of sub-agents' roles; it may be missing. */
  roles: string;
  dialects: DialectOptions;
  /** What shells and programs of the host may do. */
  sandbox: SandboxChoice;
  mcpServers: readonly McpServerSettings[];
  models: ConfiguredModels;
  policy: PolicySettings;
  encryption: EncryptionSettings;
  secrets: SecretSettings;
  /** How much disk space may be used, and where large values are stored. */
  storage: StorageSettings;
  /** Which workspaces have checkpoints, and what these may hold. */
  checkpoints: CheckpointSettings;
  /** What the models of all agents may use in a day. */
  quota: DailyQuota;
  /** How runs move from one build of the workflows to the next. */
  deployment: { versioning: Versioning };
  webhooks: readonly ConfiguredWebhook[];
  /** Who is let in by the gateway of `holdfast serve`, beyond tokens. */
  gateway: GatewaySettings;
  /** Where metrics and traces go. */
  telemetry: TelemetrySettings;
  /** What its processes log, and how much of it is kept. */
  log: LogSettings;
}

export interface LogSettings extends LogLimits {
  level: LogLevel;
}

/** Which built-in tools there are, and what they may do. */
export const builtInOptions = ({ features, tools, fetch, roles }: Configuration): BuiltInOptions => ({
  unifiedExec: features.unifiedExec,
  fetchPrivate: fetch.allowPrivate,
  interactiveTranscript: tools.interactiveTranscript,
  roles,
});

export interface ConfigurationSource {
  file: string;
  /** Whether the user named the file: then it must exist. */
  isNamed: boolean;
  /** The environment that servers inherit: an allow-list. */
  programEnv: Readonly<Record<string, string>>;
  /** The variables that `env_vars` and similar keys refer to. */
  env: NodeJS.ProcessEnv;
}

/** The named file, else `holdfast.toml` in the data folder, if it exists. */
export const configurationSource = (choice: {
  dataDir: string;
  config?: string | undefined;
}): ConfigurationSource => ({
  file: choice.config ?? join(choice.dataDir, 'holdfast.toml'),
  isNamed: choice.config !== undefined,
  env: process.env,
  programEnv: sessionEnvironment(process.env),
});

/** `config`: null for the data folder's own file; undefined for that of its last worker. */
export const workersSource = (dataDir: string, config?: string | null): ConfigurationSource =>
  configurationSource({ dataDir, config: chosenConfig(dataDir, config) ?? undefined });

/** As the worker of a data folder reads it. Throws as `readConfiguration` does. */
export const workersConfiguration = (dataDir: string, config?: string | null): Configuration =>
  readConfiguration(workersSource(dataDir, config));

/** Throws `config_invalid`, which lists every fault with its place. */
export function readConfiguration(source: ConfigurationSource): Configuration {
  const { file, isNamed } = source;
  if (!isNamed && !existsSync(file)) return resolved(configurationSchema.parse({}), source);
  const table = parseToml(file);
  const result = configurationSchema.safeParse(table);
  if (!result.success)
    throw invalid(
      file,
      result.error.issues.flatMap((issue) => faultsOf(issue, table)),
    );
  return resolved(result.data, source);
}

const invalid = (file: string, faults: string[]): HoldfastError =>
  new HoldfastError('config_invalid', { faults: `${file}: ${faults.join('; ')}` });

function parseToml(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (err) {
    throw invalid(file, [`it cannot be read: ${reasonOf(err)}`]);
  }
  try {
    return parse(text);
  } catch (err) {
    if (!(err instanceof TomlError)) throw err;
    // The rest of the message quotes the line itself.
    const what = err.message.split('\n')[0]?.replace('Invalid TOML document: ', '') ?? '';
    throw invalid(file, [`line ${err.line}, column ${err.column} is not TOML: ${what}`]);
  }
}

function faultsOf(issue: z.core.$ZodIssue, table: unknown): string[] {
  const place = issue.path.length > 0 ? `"${issue.path.map(String).join('.')}"` : 'the file';
  switch (issue.code) {
    case 'unrecognized_keys': {
      const known = knownKeys(issue.path);
      return issue.keys.map((key) => `${place} has the unknown key "${key}"${allowedInstead(key, known)}`);
    }
    case 'invalid_type':
      return [
        `${place} must be ${TYPES[issue.expected] ?? issue.expected}, got ${kindOf(table, issue.path)}`,
      ];
    case 'too_small':
      return [`${place} must ${AT_LEAST[issue.origin] ?? numberFrom(issue)}`];
    case 'too_big':
      return [`${place} must be at most ${String(issue.maximum)}`];
    case 'invalid_key':
      return issue.issues.map(({ message }) => `${place} ${message}`);
    case 'custom':
    case 'invalid_format':
    case 'invalid_value':
    case 'invalid_union':
      return [`${place} ${issue.message}`];
    case 'not_multiple_of':
    case 'invalid_element':
      return [`${place} is invalid`];
  }
}

/** What a text or a list that is empty must be. */
const AT_LEAST: Record<string, string> = { string: 'be a non-empty text', array: 'have an entry' };

const numberFrom = ({ minimum, inclusive }: z.core.$ZodIssueTooSmall): string =>
  `be ${inclusive ? 'at least' : 'above'} ${String(minimum)}`;

const TYPES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  undefined: 'nothing',
  boolean: 'true or false',
  array: 'a list',
  object: 'a table',
  record: 'a table',
};

function kindOf(table: unknown, path: readonly PropertyKey[]): string {
  const value = path.reduce<unknown>(
    (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
    table,
  );
  if (Array.isArray(value)) return 'a list';
  return TYPES[typeof value] ?? typeof value;
}

/** Keys allowed in the table at this place of the file. */
function knownKeys(path: readonly PropertyKey[]): string[] {
  const { shape } = configurationSchema;
  const [section, part] = path;
  if (section === undefined) return Object.keys(shape);
  if (section === 'mcp_servers' || section === 'model_providers' || section === 'webhooks')
    return Object.keys(shape[section].def.innerType.def.valueType.shape);
  if (section === 'models') {
    const model = shape.models.def.innerType.def.valueType.shape;
    return Object.keys(path.length > 2 ? model.prices.def.innerType.shape : model);
  }
  if (section === 'policy') {
    const policy = shape.policy.def.innerType.shape;
    return Object.keys(part === 'rules' ? policy.rules.def.innerType.shape : policy);
  }
  if (section === 'encryption') return encryptionKeys(path);
  if (section === 'gateway') return gatewayKeys(path);
  if (section === 'sandbox' && part === 'limits')
    return Object.keys(shape.sandbox.def.innerType.shape.limits.def.innerType.shape);
  const plain = section as Exclude<
    keyof typeof shape,
    'mcp_servers' | 'model_providers' | 'models' | 'policy' | 'encryption' | 'gateway' | 'webhooks'
  >;
  return Object.keys(shape[plain].def.innerType.shape);
}

function allowedInstead(key: string, known: string[]): string {
  const near = nearestName(key, known);
  return near === undefined ? `, allowed ${known.join(', ')}` : ` (did you mean "${near}"?)`;
}

function resolved(file: z.infer<typeof configurationSchema>, source: ConfigurationSource): Configuration {
  const { features, tools, fetch, dialects, prompts, roles, sandbox, mcp_servers: servers } = file;
  const folder = dirname(source.file);
  return {
    features: { unifiedExec: features.unified_exec },
    modules: tools.modules.map((module) => resolve(folder, module)),
    tools: { interactiveTranscript: tools.interactive_transcript },
    fetch: configuredFetch(fetch, source.file),
    roles: resolve(folder, roles.folder),
    dialects: {
      tags: { start: dialects.tool_tag_start, end: dialects.tool_tag_end },
      promptFolder: prompts.folder === undefined ? undefined : resolve(folder, prompts.folder),
    },
    sandbox: configuredSandbox(sandbox, folder),
    mcpServers: Object.entries(servers)
      .filter(([, { enabled }]) => enabled)
      .map(([name, entry]) => serverSettings(name, entry, source)),
    models: configuredModels(file.model_providers, file.models, folder),
    policy: configuredPolicy(file.policy),
    encryption: configuredEncryption(file.encryption, folder),
    secrets: configuredSecrets(file.secrets, folder),
    storage: configuredStorage(file.storage),
    checkpoints: configuredCheckpoints(file.checkpoints),
    quota: {
      tokens: file.quota.tokens_per_day ?? null,
      costUsd: file.quota.dollars_per_day ?? null,
    },
    deployment: file.deployment,
    webhooks: configuredWebhooks(file.webhooks, folder),
    gateway: configuredGateway(file.gateway, folder),
    log: { level: file.log.level, maxBytes: file.log.max_mb * MIB, keep: file.log.keep },
    telemetry: configuredTelemetry(file.telemetry),
  };
}

function configuredFetch(
  { allow_private: entries }: z.infer<typeof configurationSchema>['fetch'],
  file: string,
): Configuration['fetch'] {
  const wrong = entries.flatMap((entry, index) => (isAllowedPrivate(entry) ? [] : [index]));
  if (wrong.length > 0)
    throw invalid(
      file,
      wrong.map((index) => `"fetch.allow_private.${index}" must be ${ALLOWED_PRIVATE}`),
    );
  return { allowPrivate: entries };
}

const configuredPolicy = ({
  rules,
  tools,
  hosts,
  agents,
  ask_timeout_sec: seconds,
}: z.infer<typeof configurationSchema>['policy']): PolicySettings => ({
  rules: { ...DEFAULT_RULES, ...rules },
  tools,
  hosts,
  agents,
  askMs: Math.ceil(seconds * 1_000),
});

function serverSettings(name: string, entry: McpServerEntry, source: ConfigurationSource): McpServerSettings {
  const { env } = source;
  const passed = [...(entry.env_vars ?? []), ...Object.values(entry.env_http_headers ?? {})];
  if (entry.bearer_token_env_var) passed.push(entry.bearer_token_env_var);
  const missing = passed.filter((variable) => env[variable] === undefined);
  const headers = { ...entry.http_headers, ...entry.headers, ...headersFromEnv(entry, env) };
  const secrets = [...passed.map((variable) => env[variable] ?? ''), ...Object.values(entry.env ?? {})];
  return {
    name,
    transport:
      entry.command === undefined
        ? { kind: 'http', url: entry.url ?? '', headers }
        : stdioServer(entry.command, entry, source),
    enabledTools: entry.enabled_tools ?? null,
    disabledTools: entry.disabled_tools,
    startupMs: Math.ceil(entry.startup_timeout_sec * 1_000),
    toolMs: Math.ceil(entry.tool_timeout_sec * 1_000),
    secrets: [...secrets, ...Object.values(headers)],
    fault:
      missing.length > 0 ? `the environment of the worker has no ${[...new Set(missing)].join(', ')}` : null,
  };
}

function headersFromEnv(entry: McpServerEntry, env: NodeJS.ProcessEnv): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [header, variable] of Object.entries(entry.env_http_headers ?? {}))
    headers[header] = env[variable] ?? '';
  const token = entry.bearer_token_env_var;
  if (token) headers.Authorization = `Bearer ${env[token] ?? ''}`;
  return headers;
}

/** Paths are relative to the file's folder; a bare command is looked up on the PATH. */
function stdioServer(
  command: string,
  { args = [], env = {}, env_vars: names = [], cwd = '.' }: McpServerEntry,
  { file, programEnv, env: outer }: ConfigurationSource,
): McpServerSettings['transport'] {
  const folder = dirname(file);
  const passed = Object.fromEntries(names.map((name) => [name, outer[name] ?? '']));
  const isPath = command.includes('/') && !isAbsolute(command);
  return {
    kind: 'stdio',
    command: isPath ? resolve(folder, command) : command,
    args,
    cwd: resolve(folder, cwd),
    env: { ...programEnv, ...passed, ...env },
  };
}
