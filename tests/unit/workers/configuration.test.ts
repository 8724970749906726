import { DEFAULT_POLICY } from '../../../contracts/tools/policy';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { DEFAULT_QUOTAS, MIB } from '../../../contracts/sessions/quotas';
import { DEFAULT_CHECKPOINTS } from '../../../contracts/workspaces/settings';
import { readConfiguration, type Configuration } from '../../../workers/configuration/configuration';
import { WrittenConfiguration } from '../../helpers/engines/written-configuration';

const SECRET = 'sk-planted-1234';
let written: WrittenConfiguration;
let folder: string;
let file: string;
beforeEach(() => {
  written = new WrittenConfiguration();
  ({ folder, file } = written);
});
afterEach(() => written.remove());

const read = (toml: string, env?: NodeJS.ProcessEnv): Configuration => written.read(toml, env);
const faultsOf = (toml: string): string => written.faultsOf(toml);

test('no file is a configuration with the defaults; a named file must exist', () => {
  const where = { file, env: {}, programEnv: {} };
  expect(readConfiguration({ ...where, isNamed: false })).toEqual({
    policy: DEFAULT_POLICY,
    features: { unifiedExec: true },
    modules: [],
    tools: { interactiveTranscript: false },
    fetch: { allowPrivate: [] },
    roles: join(dirname(file), 'roles'),
    dialects: { tags: { start: undefined, end: undefined }, promptFolder: undefined },
    sandbox: {
      mode: 'off',
      network: 'none',
      git: 'read-only',
      writable: [],
      readable: [],
      hidden: [],
      limits: {},
    },
    mcpServers: [],
    models: { providers: {}, models: {} },
    encryption: { keys: [], required: false, allowPlaintext: [], allowUnbound: [] },
    secrets: { file: null, env: [], command: null },
    storage: { ...DEFAULT_QUOTAS, bucket: null },
    quota: { tokens: null, costUsd: null },
    checkpoints: DEFAULT_CHECKPOINTS,
    deployment: { versioning: 'off' },
    webhooks: [],
    gateway: { oidc: null },
    log: { level: 'info', maxBytes: 10 * 1024 * 1024, keep: 3 },
    telemetry: expect.objectContaining({ prometheus: null, otlp: null, traces: false }) as object,
  });
  expect(() => readConfiguration({ ...where, isNamed: true })).toThrow(
    /holdfast\.toml: it cannot be read: .*ENOENT/,
  );
});

test('how builds follow each other is one of three ways', () => {
  expect(read('[deployment]\nversioning = "pinned"').deployment).toEqual({ versioning: 'pinned' });
  expect(() => read('[deployment]\nversioning = "sometimes"')).toThrow(
    '"deployment.versioning" must be one of "auto-upgrade", "pinned", "off"',
  );
});

test('features, modules, networks, tags and prompts are read; paths count from the file', () => {
  const configuration = read(
    '[features]\nunified_exec = false\n[tools]\nmodules = ["./mine.mjs", "/abs.mjs"]\n' +
      '[fetch]\nallow_private = ["10.0.0.0/8", "localhost"]\n' +
      '[dialects]\ntool_tag_start = "<call>"\n[prompts]\nfolder = "prompts"',
  );
  expect(configuration).toMatchObject({
    features: { unifiedExec: false },
    modules: [join(folder, 'mine.mjs'), '/abs.mjs'],
    fetch: { allowPrivate: ['10.0.0.0/8', 'localhost'] },
    dialects: { tags: { start: '<call>', end: undefined }, promptFolder: join(folder, 'prompts') },
  });
});

test('a stdio server starts in the file’s folder with the allowed environment and the named variables', () => {
  const [server] = read(
    '[mcp_servers.files]\ncommand = "./serve"\nargs = ["-v"]\nenv = { KEY = "v" }\nenv_vars = ["TOKEN"]\n' +
      'enabled_tools = ["a"]\ndisabled_tools = ["b"]\nstartup_timeout_sec = 1.5\ntool_timeout_sec = 2',
    { TOKEN: SECRET, OTHER: 'x' },
  ).mcpServers;
  expect(server).toEqual({
    name: 'files',
    transport: {
      kind: 'stdio',
      command: join(folder, 'serve'),
      args: ['-v'],
      cwd: folder,
      env: { PATH: '/bin', TOKEN: SECRET, KEY: 'v' },
    },
    enabledTools: ['a'],
    disabledTools: ['b'],
    startupMs: 1_500,
    toolMs: 2_000,
    secrets: [SECRET, 'v'],
    fault: null,
  });
});

test('an HTTP server gets its headers, also those from the environment', () => {
  const [server] = read(
    '[mcp_servers.web]\nurl = "https://example.com/mcp"\nheaders = { A = "1" }\nhttp_headers = { B = "2" }\n' +
      'env_http_headers = { C = "THREE" }\nbearer_token_env_var = "TOKEN"',
    { TOKEN: SECRET, THREE: '3' },
  ).mcpServers;
  expect(server?.transport).toEqual({
    kind: 'http',
    url: 'https://example.com/mcp',
    headers: { A: '1', B: '2', C: '3', Authorization: `Bearer ${SECRET}` },
  });
});

test('an unset variable is the server’s fault; a disabled server has none', () => {
  const { mcpServers } = read(
    '[mcp_servers.web]\nurl = "https://a.example"\nbearer_token_env_var = "TOKEN"\n' +
      '[mcp_servers.off]\ncommand = "x"\nenabled = false',
  );
  expect(mcpServers).toHaveLength(1);
  expect(mcpServers[0]?.fault).toBe('the environment of the worker has no TOKEN');
});

test('model providers and model settings are read; a key stays where it is', () => {
  const { models } = read(
    '[model_providers.mine]\nbase_url = "http://localhost:8000/v1"\nkey_file = "key.txt"\nwire_api = "responses"\n' +
      'http_headers = { A = "1" }\nenv_http_headers = { B = "TWO" }\nstream_idle_timeout_ms = 5000\n' +
      '[model_providers.plain]\nbase_url = "http://localhost"\nenv_key = "KEY"\n' +
      '[models."openai:large"]\nwindow = 400_000\nmax_output_tokens = 9\n' +
      'prices = { input = 1.25, cached_input = 0.125, output = 10 }',
    { TWO: SECRET, KEY: SECRET },
  );
  expect(models).toEqual({
    providers: {
      mine: {
        wireApi: 'responses',
        baseUrl: 'http://localhost:8000/v1',
        key: { file: join(folder, 'key.txt') },
        headers: { A: '1' },
        variableHeaders: { B: 'TWO' },
        streamIdleMs: 5_000,
        requestMs: 600_000,
      },
      plain: {
        wireApi: 'chat',
        baseUrl: 'http://localhost',
        key: { variable: 'KEY' },
        headers: {},
        variableHeaders: {},
        streamIdleMs: 300_000,
        requestMs: 600_000,
      },
    },
    models: {
      'openai:large': {
        window: 400_000,
        maxOutputTokens: 9,
        prices: { input: 1.25, cachedInput: 0.125, output: 10 },
      },
    },
  });
});

test('values are taken as they are written: nothing is expanded', () => {
  const [server] = read('[mcp_servers.a]\ncommand = "x"\nenv = { A = "${HOME}" }', {
    HOME: '/root',
  }).mcpServers;
  expect(server?.transport).toMatchObject({ env: { A: '${HOME}' } });
});

test('the locations of keys are read, with paths relative to the file; faults in [encryption] are reported by location', () => {
  const { encryption } = read(
    '[encryption]\nkeys = [{ id = "b", file = "b.key" }, { id = "a", env = "A_KEY" }]\nrequired = true\n' +
      'allow_plaintext = ["agent"]',
  );
  expect(encryption).toEqual({
    keys: [
      { id: 'b', file: join(folder, 'b.key') },
      { id: 'a', env: 'A_KEY' },
    ],
    required: true,
    allowPlaintext: ['agent'],
    allowUnbound: [],
  });
  expect(faultsOf('[encryption]\nrequired = true')).toMatch(/"encryption" has required = true without a key/);
  expect(faultsOf('[encryption]\nkeys = [{ id = "a", passphrase = "x" }]')).toMatch(
    /"encryption.keys.0" has the unknown key "passphrase", allowed id, file, env/,
  );
  expect(faultsOf('[encryption]\nallow_plaintext = ["turn"]')).toMatch(/must be of "agent", "session"/);
});

test('the locations of secrets are read, and faults in [secrets] are reported by location', () => {
  const { secrets } = read('[secrets]\nfile = "s.toml"\nenv = ["TOKEN"]\ncommand = ["./ask", "{name}"]');
  expect(secrets).toEqual({
    file: join(folder, 's.toml'),
    env: ['TOKEN'],
    command: [join(folder, 'ask'), '{name}'],
  });
  expect(faultsOf('[secrets]\ncommand = ["pass"]')).toMatch(
    /"secrets.command" must be a program and its arg/,
  );
  expect(faultsOf('[secrets]\nenv = ["2A"]')).toMatch(/"secrets.env.0" must be a name of at most 63/);
});

test('a sandbox is read: folders are relative to the file or the home folder, limits have their units', () => {
  const { sandbox } = read(
    '[sandbox]\nmode = "required"\nnetwork = "full"\nwritable = ["cache", "~/notes"]\nhidden = ["/srv/keys"]\n' +
      '[sandbox.limits]\nprocesses = 200\nmemory_mb = 2048\ncpu_sec = 60\nfile_mb = 100\nopen_files = 256',
  );
  expect(sandbox).toEqual({
    mode: 'required',
    network: 'full',
    git: 'read-only',
    writable: [join(folder, 'cache'), join(homedir(), 'notes')],
    readable: [],
    hidden: ['/srv/keys'],
    limits: { processes: 200, memoryMb: 2048, cpuSec: 60, fileMb: 100, openFiles: 256 },
  });
});

test('limits of the disk are read in MiB, and an invalid limit is refused', () => {
  expect(read('[storage]\nsession_log_mb = 64\nvalues_mb = 100').storage).toEqual({
    ...DEFAULT_QUOTAS,
    sessionLogBytes: 64 * MIB,
    valueBytes: 100 * MIB,
    bucket: null,
  });
  for (const none of ['0', '-1', '1.5', '"64"'])
    expect(faultsOf(`[storage]\nhost_logs_mb = ${none}`)).toContain('"storage.host_logs_mb" must be');
  expect(faultsOf('[storage]\nsession_log = 5')).toContain('did you mean "session_log_mb"?');
});

test('[storage] names a bucket and where it is', () => {
  const entry = 's3_endpoint = "https://s3.example.org"\ns3_region = "eu"\ns3_path_style = true';
  expect(read(`[storage]\nvalues = "s3://team-values/a/b/"\n${entry}`).storage.bucket).toEqual({
    ...{ bucket: 'team-values', prefix: 'a/b', endpoint: 'https://s3.example.org' },
    ...{ region: 'eu', pathStyle: true },
  });
  expect(read('[storage]\nvalues = "s3://team-values"').storage.bucket).toEqual({
    ...{ bucket: 'team-values', prefix: '', pathStyle: false },
  });
});

test.each([
  ['values = "https://x/team"', '"storage.values" must be s3://BUCKET or s3://BUCKET/PREFIX'],
  ['values = "s3://Team"', '"storage.values" must be s3://BUCKET or s3://BUCKET/PREFIX'],
  ['s3_endpoint = "https://me:pass@x/"', 'must be an http or https URL without credentials'],
  ['s3_endpoint = "ftp://x/"', 'must be an http or https URL without credentials'],
])('a bucket that cannot be meant is a fault: %s', (entry, fault) => {
  expect(faultsOf(`[storage]\n${entry}`)).toContain(fault);
  expect(faultsOf(`[storage]\n${entry}`)).not.toContain('pass');
});

test('the hosts that a sandbox reaches are read as they are named', () => {
  const network = ['pypi.org', '*.example.org', 'registry.internal:8443', '10.0.0.5:80', '[fd00::1]:443'];
  expect(read(`[sandbox]\nnetwork = ${JSON.stringify(network)}`).sandbox).toMatchObject({ network });
});

test('unknown sandbox settings are refused with what is allowed', () => {
  expect(faultsOf('[sandbox]\nmode = "on"')).toContain(
    '"sandbox.mode" must be one of "off", "prefer", "required"',
  );
  const faultsOfNetwork = (value: string): string => faultsOf(`[sandbox]\nnetwork = ${value}`);
  expect(faultsOfNetwork('"some"')).toContain('"sandbox.network" must be "none", "full" or a list of hosts');
  expect(faultsOfNetwork('[]')).toContain('"sandbox.network" must name hosts such as "pypi.org", ');
  for (const entry of ['https://pypi.org', '*', 'a:0', 'a:65536', 'a b', '-', '10.0.0.0/8'])
    expect(faultsOfNetwork(`["ok.org", "${entry}"]`)).toContain(
      '"sandbox.network.1" must be one of hosts such as "pypi.org", ',
    );
  expect(faultsOf('[sandbox.limits]\nmemory = 5')).toContain('did you mean "memory_mb"?');
});

test('a guess in a fault ends the sentence with one mark', () => {
  expect(faultsOf('[storage]\nsession_log = 5')).toMatch(/ \(did you mean "session_log_mb"\?\)$/);
});

test.each([
  ['url = "ftp://x/"\nsecret_env = "A"', 'must be an http or https address'],
  ['url = "https://me:pass@x/"\nsecret_env = "A"', 'must be an http or https address'],
  ['url = "https://x/"', 'one of "secret_file" and "secret_env"'],
  ['url = "https://x/"\nsecret_env = "A"\nsecret_file = "a"', 'one of "secret_file" and "secret_env"'],
  ['url = "https://x/"\nsecret_env = "A"\nevents = ["agent.happy"]', 'must be some of "agent.waiting_input"'],
  ['url = "https://x/"\nsecret_env = "A"\nagents = ["a/b"]', 'must be an id, in which'],
  ['url = "https://x/"\nsecret_env = "A"\nevent = []', 'did you mean "events"?'],
])('a webhook that cannot be is refused, without its address: %j', (table, fault) => {
  const faults = faultsOf(`[webhooks.x]\n${table}`);
  expect(faults).toContain(fault);
  expect(faults).not.toContain('pass@');
});
