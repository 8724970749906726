// Every file that the configuration names is out of reach for code in the sandbox: it is read-only there, or refused.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { configurationSchema } from '../../../contracts/schemas/configuration/configuration';
import type { z } from '../../../contracts/schemas/zod';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import {
  configurationSource,
  readConfiguration,
  type Configuration,
} from '../../../workers/configuration/configuration';
import {
  exposedNow,
  loadedPlaces,
  refuseExposedParts,
  trustedSecrets,
  trustedServer,
  type Exposed,
} from '../../../workers/configuration/exposed';
import { readGateway } from '../../../workers/configuration/read-gateway';

let folder: string;
let workdir: string;
let dataDir: string;
beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'holdfast-named-'));
  [workdir = '', dataDir = ''] = ['work', 'data'].map((name) => join(folder, name));
  for (const place of [workdir, dataDir]) mkdirSync(place);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Each key of the configuration that takes a text, in one of them; a key that names a file names one in `at`. */
const examples = (at: string): string[] => [
  `[tools]
modules = ["${at}/tools.mjs"]
[fetch]
allow_private = ["10.0.0.0/8"]
[dialects]
tool_tag_start = "<a>"
tool_tag_end = "</a>"
[prompts]
folder = "${at}/prompts"
[sandbox]
mode = "required"
network = ["pypi.org"]
writable = ["${at}/shared"]
readable = ["${at}/shown"]
hidden = ["${at}/hidden"]
[roles]
folder = "${at}/own-roles"
[mcp_servers.program]
command = "${at}/server"
args = ["--all"]
env = { A = "b" }
env_vars = ["PATH"]
cwd = "/"
enabled_tools = ["one"]
disabled_tools = ["two"]
[mcp_servers.folder]
command = "/bin/sh"
cwd = "${at}/served"
[mcp_servers.far]
url = "https://example.org/"
headers = { A = "b" }
http_headers = { C = "d" }
env_http_headers = { E = "PATH" }
bearer_token_env_var = "PATH"
[model_providers.own]
name = "Own"
base_url = "https://example.org/"
key_file = "${at}/model-key"
http_headers = { A = "b" }
env_http_headers = { C = "PATH" }
[encryption]
keys = [{ id = "a", file = "${at}/payload-key" }]
[secrets]
file = "${at}/secrets.toml"
env = ["TOKEN"]
command = ["${at}/secret", "{name}"]
allow = { TOKEN = { agents = ["a"], hosts = ["b"], commands = ["c"] } }
[storage]
values = "s3://team-values/holdfast"
s3_endpoint = "https://s3.example.org"
s3_region = "eu-central-1"
[checkpoints]
include = ["dist/"]
[webhooks.own]
url = "https://example.org/"
agents = ["a"]
secret_file = "${at}/webhook-secret"
[gateway.oidc]
issuer = "https://example.org"
name = "Own"
client_id = "holdfast"
client_secret_file = "${at}/client-secret"
audience = "api"
scopes = ["openid"]
claim = "groups"
roles = { a = { role = "viewer", agents = ["b"] } }
public_url = "https://example.org"
[telemetry]
prometheus = "127.0.0.1:9464"
prometheus_gateway = "127.0.0.1:9465"
otlp = "http://127.0.0.1:4318"
env_otlp_headers = { A = "PATH" }
`,
  `[sandbox]
mode = "required"
[model_providers.own]
base_url = "https://example.org/"
env_key = "PATH"
[encryption]
keys = [{ id = "a", env = "PATH" }]
[webhooks.own]
url = "https://example.org/"
secret_env = "PATH"
[gateway.oidc]
issuer = "https://example.org"
client_id = "holdfast"
client_secret_env = "PATH"
roles = {}
`,
];

/** The keys below a schema that take a text, and whether any of the tables has them. `*` is any name. */
function textKeys(schema: z.core.$ZodType, tables: unknown[], path: string[] = []): Map<string, boolean> {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const given = tables.filter((table) => table !== undefined);
  const below = (parts: Iterable<[string, boolean]>[]): Map<string, boolean> => {
    const keys = new Map<string, boolean>();
    for (const [key, isGiven] of parts.flatMap((part) => [...part]))
      keys.set(key, (keys.get(key) ?? false) || isGiven);
    return keys;
  };
  if (def.type === 'object')
    return below(
      Object.entries(def.shape).map(([key, one]) => {
        const values = given.map((table) => (table as Record<string, unknown>)[key]);
        return textKeys(one, values, [...path, key]);
      }),
    );
  if (def.type === 'record') {
    const values = given.flatMap((table) => Object.values(table as object) as unknown[]);
    return textKeys(def.valueType, values, [...path, '*']);
  }
  if (def.type === 'array') {
    const items = given.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
    return textKeys(def.element, items, path);
  }
  if (def.type === 'union') return below(def.options.map((one) => textKeys(one, given, path)));
  if ('innerType' in def) return textKeys(def.innerType, given, path);
  if (def.type === 'string') return new Map([[path.join('.'), given.length > 0]]);
  expect(['boolean', 'number', 'enum']).toContain(def.type);
  return new Map();
}

test('a key that takes a text has an example here, in which it names a file if it can', () => {
  const tables = examples('/at').map((text) => parse(text));
  const keys = [...textKeys(configurationSchema, tables)];
  expect(keys.length).toBeGreaterThan(50);
  expect(keys.filter(([, isGiven]) => !isGiven).map(([key]) => key)).toEqual([]);
});

/** The texts in it that are paths in this folder. */
function pathsIn(value: unknown, at: string): string[] {
  if (typeof value === 'string') return value.startsWith(`${at}/`) ? [value] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((one) => pathsIn(one, at));
}

/** The first example, whose files are in this folder. */
function configured(at: string): { file: string; configuration: Configuration; exposed: Exposed } {
  const file = join(dataDir, 'holdfast.toml');
  writeFileSync(file, examples(at)[0] ?? '');
  const configuration = readConfiguration(configurationSource({ dataDir, config: file }));
  return { file, configuration, exposed: exposedNow({ dataDir, config: file, workdir }) };
}

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (err) {
    if (err instanceof HoldfastError && err.code === 'config_invalid') return err.message;
    throw err;
  }
  return '';
}

const refusals = ({ configuration, exposed }: ReturnType<typeof configured>): string =>
  [
    refusal(() => refuseExposedParts(configuration, exposed)),
    refusal(() => trustedSecrets(configuration.secrets, exposed)),
    ...configuration.mcpServers.map((server) => trustedServer(server, exposed).fault),
  ].join('\n');

/** Up to the end of a word: a path may begin with another one. */
const names = (said: string, path: string): boolean => `${said} `.includes(`${path} `);

test('a file that the configuration names in the workspace is read-only there, or refused', () => {
  const given = configured(workdir);
  const { file, configuration, exposed } = given;
  const loaded = loadedPlaces(configuration, file, exposed);
  const said = refusals(given).replaceAll(',', ' ');
  // What the sandbox lets sessions write, see or not see is no file of the worker.
  const paths = pathsIn({ ...configuration, sandbox: null }, workdir);
  expect(paths).toHaveLength(11);
  expect(paths.filter((path) => !loaded.includes(path) && !names(said, path))).toEqual([]);
});

test('a path of the configuration that leads through a link in the workspace is refused', () => {
  const outside = join(folder, 'else');
  mkdirSync(outside);
  const link = join(workdir, 'link');
  symlinkSync(outside, link);
  const given = configured(link);
  const { file, configuration, exposed } = given;
  const linked = refusal(() => loadedPlaces(configuration, file, exposed));
  const said = `${linked}\n${refusals(given)}`.replaceAll(',', ' ');
  const paths = pathsIn(configuration, link);
  expect(paths).toHaveLength(14);
  expect(paths.filter((path) => !names(said, path))).toEqual([]);
  // The same files without a link on the way.
  const direct = configured(outside);
  expect(refusal(() => loadedPlaces(direct.configuration, direct.file, direct.exposed))).toBe('');
});

test('the gateway does not start with a client secret that code in the sandbox could change', () => {
  writeFileSync(
    join(dataDir, 'holdfast.toml'),
    `[sandbox]
mode = "required"
[gateway.oidc]
issuer = "https://example.org"
client_id = "holdfast"
client_secret_file = "${workdir}/client-secret"
roles = {}
`,
  );
  writeFileSync(join(workdir, 'client-secret'), 's3', { mode: 0o600 });
  const before = process.env.HOLDFAST_WORKDIR;
  process.env.HOLDFAST_WORKDIR = workdir;
  try {
    expect(refusal(() => readGateway(dataDir, null, {}))).toContain(
      `${workdir}/client-secret can be changed`,
    );
  } finally {
    if (before === undefined) delete process.env.HOLDFAST_WORKDIR;
    else process.env.HOLDFAST_WORKDIR = before;
  }
});
