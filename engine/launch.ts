// Starts the server's process so that it outlives its starter, and is recorded before it runs.
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { SEARCH_ATTRIBUTE_TYPES } from '../contracts/messages';
import { identityOf } from '../system/processes/process-identity';
import { refuseIfStopped } from '../system/processes/stop-marker';
import { launchGuard } from './ui-guard/launch-guard';
import { LOOPBACK, type EnginePorts, type HiddenPorts } from './ports';
import { writeRecord, type EnginePaths, type EngineRecord } from './record';
import { DATABASE, DYNAMIC_CONFIG, type Pragmas, type Settings } from './tuning';

/**
 * The shell waits for a line before it becomes the server. If we die before the record is written, it reads end of file
 * and exits; pid and start time, its identity, stay the same across exec.
 */
const GATE = 'read -r _ && exec "$@" </dev/null';

/** The server needs nothing else from our environment, least of all its keys. The last two tune the memory of a Go program. */
const KEPT_VARIABLES = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'GOGC', 'GOMEMLIMIT'];

/** For people. */
export const SERVER = 'The Temporal server';

const keptOf = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(KEPT_VARIABLES.map((name) => [name, env[name]]));

/** What to start. */
export interface Launch {
  dataDir: string;
  binary: string;
  ports: EnginePorts & HiddenPorts;
  paths: EnginePaths;
  env: NodeJS.ProcessEnv;
  /** Dynamic configuration beside ours. */
  settings?: Settings | undefined;
  /** Pragmas of its database instead of ours. */
  database?: Pragmas | undefined;
}

/**
 * Starts the server and the guard of its web UI, and records both; they do not answer yet. Throws `engine_stopped` while
 * `holdfast down` applies.
 */
export function launchServer({ dataDir, binary, ports, paths, env, ...tuning }: Launch): EngineRecord {
  const child = spawnGate(binary, serverArguments(ports, paths.dbFile, tuning), paths, env);
  const { pid, stdin } = child;
  // Without listeners, a failure to start would be an uncaught exception; it is reported below by the missing pid.
  child.on('error', () => undefined);
  if (pid === undefined || stdin === null) {
    throw new HoldfastError('engine_failed', { reason: '/bin/sh cannot be started', log: paths.logFile });
  }
  stdin.on('error', () => undefined);
  child.unref();
  try {
    const identity = identityOf(pid);
    const record: EngineRecord = {
      address: `${LOOPBACK}:${ports.port}`,
      namespace: 'default',
      uiUrl: `http://${LOOPBACK}:${ports.uiPort}`,
      ...ports,
      identity,
      guard: launchGuard({ ...ports, identity }, paths),
      dbFile: paths.dbFile,
      logFile: paths.logFile,
      binary,
      startedAt: new Date().toISOString(),
    };
    writeRecord(paths, record);
    refuseIfStopped(dataDir, SERVER);
    stdin.end('\n');
    return record;
  } catch (err) {
    // They could not be found without a record: the shell exits, and the guard after it.
    stdin.destroy();
    throw err;
  }
}

function spawnGate(binary: string, args: string[], paths: EnginePaths, env: NodeJS.ProcessEnv): ChildProcess {
  const log = openSync(paths.logFile, 'a', 0o600);
  try {
    return spawn('/bin/sh', ['-c', GATE, 'sh', binary, ...args], {
      cwd: paths.folder,
      detached: true,
      stdio: ['pipe', log, log],
      env: {
        ...keptOf(env),
        TEMPORAL_VERSION_CHECK_DISABLED: '1',
      },
    });
  } finally {
    closeSync(log);
  }
}

const repeated = (flag: string, values: readonly (readonly [string, unknown])[]): string[] =>
  values.flatMap(([key, value]) => [flag, `${key}=${String(value)}`]);

/** Configuration of every server of ours, whatever its ports. */
export function configArguments(settings: Settings = {}): string[] {
  const config = Object.entries({ ...DYNAMIC_CONFIG, ...settings }).map(
    ([key, value]) => [key, JSON.stringify(value)] as const,
  );
  return [
    ...repeated('--dynamic-config-value', config),
    ...repeated('--search-attribute', Object.entries(SEARCH_ATTRIBUTE_TYPES)),
  ];
}

/** The command line of `temporal server start-dev`. */
function serverArguments(
  ports: EnginePorts & HiddenPorts,
  dbFile: string,
  { settings, database = DATABASE }: Pick<Launch, 'settings' | 'database'>,
): string[] {
  const { port, ui, httpPort, metricsPort } = ports;
  return [
    ...['server', 'start-dev', '--ip', LOOPBACK, '--port', String(port)],
    ...['--ui-ip', ui.address, '--ui-port', String(ui.port)],
    // By default, it would open both at any free port.
    ...['--http-port', String(httpPort), '--metrics-port', String(metricsPort)],
    ...['--db-filename', dbFile, '--namespace', 'default', '--log-level', 'warn', '--log-format', 'json'],
    ...repeated('--sqlite-pragma', Object.entries(database)),
    ...configArguments(settings),
  ];
}
