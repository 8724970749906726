// The tools in `holdfast.toml`: those of its modules, and those of its MCP servers, which follow changes of the file
// while the worker runs.
import { isDeepStrictEqual } from 'node:util';
import type { DailyQuota } from '../../contracts/models/daily-quota';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import type { PolicySettings } from '../../contracts/tools/policy';
import { packageVersion } from '../../system/package-root';
import type { McpServerStatus } from '../../tools/mcp/mcp-server';
import { McpServers } from '../../tools/mcp/servers';
import type { McpServerSettings } from '../../tools/mcp/mcp-settings';
import type { Tool, ToolSource } from '../../tools/tool';
import { configurationSource, readConfiguration, type Configuration } from '../configuration/configuration';
import { isExposed, refuseExposedParts, trustedServer, type Exposed } from '../configuration/exposed';
import { McpProcesses } from './mcp-processes';
import { loadTools } from './tool-modules';
import { watchContent } from '../configuration/watch-file';
import type { WorkersLog } from '../workers';

export interface ConfiguredTools {
  configuration: Configuration;
  /** Tools of the modules. */
  tools: Tool[];
  /** Tools of the MCP servers. */
  source: ToolSource;
  servers(): McpServerStatus[];
  /** Current problems with the file. */
  faults(): string[];
  /** The current policy: it applies from the next call on. */
  policy(): PolicySettings;
  /** The current quota, likewise. */
  quota(): DailyQuota;
  /** Starts to follow the file, and connects the servers if wanted. Call it once. */
  start(withServers: boolean): void;
  /** Resolves when no server process is left. */
  close(): Promise<void>;
}

export interface ConfigurationChoice {
  dataDir: string;
  /** Default: `holdfast.toml` in the data folder, if it exists. */
  config?: string | undefined;
  /** What must not be loaded, because code in the host's sandbox could write it. */
  exposed: Exposed;
  log: WorkersLog;
}

/** Throws `config_invalid` and `tools_not_loaded`; no server is started yet. */
export async function configureTools(choice: ConfigurationChoice): Promise<ConfiguredTools> {
  const where = configurationSource(choice);
  const configuration = readConfiguration(where);
  const { dataDir, exposed, log } = choice;
  refuseExposedParts(configuration, exposed);
  const tools = await loadTools(configuration.modules);
  const trusted = (given: Configuration): McpServerSettings[] =>
    given.mcpServers.map((server) => trustedServer(server, exposed));
  const processes = new McpProcesses(dataDir);
  const servers = serversOf(processes, log);
  let faults: string[] = [];
  let { policy, quota } = configuration;
  let hasServers = false;
  let stopWatching = (): void => undefined;
  /** The log has the faults before the list of tools shows them: people look there next. */
  const found = (now: string[]): void => {
    faults = now;
    for (const fault of faults) log.warn('configuration', { reason: fault });
  };
  const follow = (): void => {
    try {
      const now = readConfiguration(where);
      found(needingRestart(configuration, now));
      ({ policy, quota } = now);
      if (hasServers) servers.reconcile(trusted(now));
    } catch (err) {
      found([`The previous configuration stays in effect. ${reasonOf(err)}`]);
      if (hasServers) servers.reconcile(servers.settings());
    }
  };
  return {
    configuration,
    tools,
    source: servers,
    servers: () => servers.status(),
    faults: () => faults,
    policy: () => policy,
    quota: () => quota,
    start(withServers) {
      if (isExposed(where.file, exposed)) faults = [`${where.file} ${NOT_FOLLOWED}`];
      else stopWatching = watchContent(where.file, follow);
      if (!withServers) return;
      hasServers = true;
      void endLeft(processes, log);
      servers.reconcile(trusted(configuration));
    },
    async close() {
      stopWatching();
      await servers.close();
    },
  };
}

const serversOf = (processes: McpProcesses, log: WorkersLog): McpServers =>
  new McpServers({
    version: packageVersion(),
    onProcess: processes.started,
    log: {
      info: (message, facts) => log.info(message, { ...facts }),
      warn: (message, facts) => log.warn(message, { ...facts }),
    },
  });

const endLeft = (processes: McpProcesses, log: WorkersLog): Promise<void> =>
  processes
    .endLeft()
    .catch((err: unknown) =>
      log.warn('MCP servers of a killed worker could not be ended', { reason: reasonOf(err) }),
    );

/** Read-only in the sandbox, but people replace files, and a mount on a replaced file is gone for a moment. */
const NOT_FOLLOWED =
  'is in a folder that sessions may write: it is read when a worker starts, and changes are not followed while it runs.';

/** MCP servers, the policy and the quota follow the file; the rest is read when a worker starts. */
function needingRestart(began: Configuration, now: Configuration): string[] {
  const names = {
    features: '[features]',
    modules: '[tools]',
    tools: '[tools]',
    fetch: '[fetch]',
    roles: '[roles]',
    dialects: '[dialects] or [prompts]',
    sandbox: '[sandbox]',
    models: '[model_providers] or [models]',
    encryption: '[encryption]',
    secrets: '[secrets]',
    storage: '[storage]',
    webhooks: '[webhooks]',
  } as const;
  const parts = (Object.keys(names) as (keyof typeof names)[]).filter(
    (part) => !isDeepStrictEqual(began[part], now[part]),
  );
  return [...new Set(parts.map((part) => names[part]))].map(
    (part) => `${part} of the configuration has changed: this takes effect at the worker's next start.`,
  );
}
