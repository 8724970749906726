// What the workers of an agents' queue offer, part by part: which worker an agent gets is chance, so all of them must
// offer the same. Contains no secrets; of a key, only whether there is one.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Offer } from '../../contracts/sessions/claims';
import { HTTP_PROVIDERS, type ProviderSettings } from '../../models/model-settings';
import type { ModelProviders } from '../../models/providers';
import type { McpServerSettings } from '../../tools/mcp/mcp-settings';
import type { Tool } from '../../tools/tool';
import type { ToolDescription } from '../../contracts/tools/tools';
import { bucketUrl } from '../../contracts/sessions/quotas';
import type { Configuration } from '../configuration/configuration';

/** Prefix of a value that is only compared. */
const HASHED = '#';
const HASH_LENGTH = 8;
const SHOWN_DIFFERENCES = 8;

export interface Offered {
  tools: readonly ToolDescription[];
  /** The tools that are not built in. */
  ownTools: readonly Pick<Tool, 'name'>[];
  ownModels: ModelProviders;
  configuration: Configuration;
  env: NodeJS.ProcessEnv;
}

export function offerOf({ tools, ownTools, ownModels, configuration, env }: Offered): Offer {
  const own = new Set(ownTools.map(({ name }) => name));
  const { versioning } = configuration.deployment;
  const { models, policy, dialects, encryption, features, fetch, mcpServers, roles, webhooks, storage } =
    configuration;
  const providers = { ...HTTP_PROVIDERS, ...models.providers };
  const parts: [string, string][] = [
    // Built-in tools of two releases may differ in their descriptions.
    ...tools.map((tool): [string, string] => [
      `tool ${tool.name}`,
      own.has(tool.name) ? hashed(tool) : 'built in',
    ]),
    ...mcpServers.map((server): [string, string] => [`MCP server ${server.name}`, hashed(reachOf(server))]),
    ...Object.entries(providers).map(([name, provider]): [string, string] => [
      `model provider ${name}`,
      way(provider, env),
    ]),
    ...Object.keys(ownModels).map((name): [string, string] => [`model provider ${name}`, 'own']),
    ...entries('settings of model', models.models, hashed),
    ...entries('policy rule', policy.rules),
    ...entries('policy of tool', policy.tools),
    ...entries('policy of host', policy.hosts),
    ...entries('policy of agent', policy.agents),
    ...webhooks.map(({ id, url, events, agents }): [string, string] => [
      `webhook ${id}`,
      hashed([url, events, agents]),
    ]),
    ['policy ask_timeout_sec', String(policy.askMs / 1_000)],
    ['unified_exec', String(features.unifiedExec)],
    ['fetch.allow_private', fetch.allowPrivate.join(' ') || 'none'],
    ['tool tags', dialects.tags ? `${dialects.tags.start} ${dialects.tags.end}` : 'usual'],
    ['prompts', hashedFolder(dialects.promptFolder)],
    ['roles', hashedFolder(roles)],
    ['deployment.versioning', versioning],
    ['encryption', encryption.keys.map(({ id }) => id).join(' ') || 'none'],
    ['encryption.required', String(encryption.required)],
    ...(storage.bucket ? [['storage.values', bucketUrl(storage.bucket)] as [string, string]] : []),
  ];
  return Object.fromEntries(parts);
}

/** Deterministic: equal offers have equal fingerprints. */
export const fingerprintOf = (offer: Offer): string =>
  sha256(JSON.stringify(Object.entries(offer).sort(([a], [b]) => (a < b ? -1 : 1)))).slice(0, 12);

/** The differences between the offer there and the offer here, in words, for a message. */
export function differencesOf(there: Offer, here: Offer): string {
  const names = [...new Set([...Object.keys(there), ...Object.keys(here)])];
  const different = names.filter((name) => there[name] !== here[name]);
  const shown = different.slice(0, SHOWN_DIFFERENCES).map((name) => {
    const [a, b] = [there[name], here[name]];
    if (a === undefined) return `${name} (only here)`;
    if (b === undefined) return `${name} (only there)`;
    if (!a.startsWith(HASHED) || !b.startsWith(HASHED)) return `${name} (${a} there, ${b} here)`;
    // What is hashed says nothing to a reader.
    const [said, saidHere] = [a, b].map((value) => value.slice(HASHED.length + HASH_LENGTH).trim());
    return said === saidHere
      ? `${name} (differs)`
      : `${name} (${said || 'no key needed'} there, ${saidHere || 'no key needed'} here)`;
  });
  const more = different.length - shown.length;
  return shown.join(', ') + (more > 0 ? `, and ${more} more` : '');
}

const entries = <T>(
  kind: string,
  all: Readonly<Record<string, T>>,
  show: (value: T) => string = String,
): [string, string][] => Object.entries(all).map(([name, value]) => [`${kind} ${name}`, show(value)]);

function way({ key, headers, ...provider }: ProviderSettings, env: NodeJS.ProcessEnv): string {
  const baseUrl = provider.baseUrl ?? (provider.baseUrlVariable && env[provider.baseUrlVariable]);
  const hasKey = key !== null && ('variable' in key ? !!env[key.variable] : existsSync(key.file));
  return `${hashed([provider, baseUrl, Object.keys(headers)])}${key === null ? '' : hasKey ? ' with key' : ' without key'}`;
}

/** Without the values of its environment and headers. */
const reachOf = ({ transport, enabledTools, disabledTools }: McpServerSettings): unknown => [
  transport.kind === 'http' ? transport.url : [transport.command, transport.args],
  enabledTools,
  disabledTools,
];

function hashedFolder(folder: string | undefined): string {
  if (folder === undefined || !existsSync(folder)) return 'none';
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  return hashed(files.map(({ name }) => [name, readFileSync(join(folder, name), 'utf8')]).sort());
}

const hashed = (value: unknown): string => `${HASHED}${sha256(JSON.stringify(value)).slice(0, HASH_LENGTH)}`;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
