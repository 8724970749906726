// Starts the server's process so that it outlives whoever started it, and is on record before it runs.
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { HoldfastError } from '../contracts/errors';
import { SEARCH_ATTRIBUTE_TYPES } from '../contracts/messages';
import { identityOf } from '../exec/process-identity';
import { LOOPBACK, type EnginePorts } from './ports';
import { writeRecord, type EnginePaths, type EngineRecord } from './record';
import { DYNAMIC_CONFIG } from './tuning';

/**
 * The shell waits for a line before it becomes the server. If we die before the record is written, it reads the
 * end of its input and ends; pid and start time, its identity, stay the same across exec.
 */
const GATE = 'read -r _ && exec "$@" </dev/null';

/** The server needs no more of our environment, and above all none of its keys. */
const KEPT_VARIABLES = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG'];

/** What to start. */
export interface Launch {
  binary: string;
  ports: EnginePorts;
  paths: EnginePaths;
  env: NodeJS.ProcessEnv;
}

/** Starts the server and records it; it does not answer yet. */
export function launchServer({ binary, ports, paths, env }: Launch): EngineRecord {
  const child = spawnGate(binary, serverArguments(ports, paths.dbFile), paths, env);
  const { pid, stdin } = child;
  // Without listeners, a failure to start would be an uncaught exception; it is reported below by the missing pid.
  child.on('error', () => undefined);
  if (pid === undefined || stdin === null) {
    throw new HoldfastError('engine_failed', { reason: '/bin/sh cannot be started', log: paths.logFile });
  }
  const record: EngineRecord = {
    address: `${LOOPBACK}:${ports.port}`,
    namespace: 'default',
    uiUrl: `http://${LOOPBACK}:${ports.uiPort}`,
    httpUrl: `http://${LOOPBACK}:${ports.httpPort}`,
    ...ports,
    identity: identityOf(pid),
    dbFile: paths.dbFile,
    logFile: paths.logFile,
    binary,
    startedAt: new Date().toISOString(),
  };
  writeRecord(paths, record);
  stdin.on('error', () => undefined);
  stdin.end('\n');
  child.unref();
  return record;
}

function spawnGate(binary: string, args: string[], paths: EnginePaths, env: NodeJS.ProcessEnv): ChildProcess {
  const log = openSync(paths.logFile, 'a', 0o600);
  try {
    return spawn('/bin/sh', ['-c', GATE, 'sh', binary, ...args], {
      cwd: paths.folder,
      detached: true,
      stdio: ['pipe', log, log],
      env: {
        ...Object.fromEntries(KEPT_VARIABLES.map((name) => [name, env[name]])),
        TEMPORAL_VERSION_CHECK_DISABLED: '1',
      },
    });
  } finally {
    closeSync(log);
  }
}

/** What every server of ours is told, whichever ports it has. */
export function configArguments(): string[] {
  const repeated = (flag: string, values: Readonly<Record<string, unknown>>): string[] =>
    Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${String(value)}`]);
  return [
    ...repeated('--dynamic-config-value', DYNAMIC_CONFIG),
    ...repeated('--search-attribute', SEARCH_ATTRIBUTE_TYPES),
  ];
}

/** The command line of `temporal server start-dev`. */
export function serverArguments(ports: EnginePorts, dbFile: string): string[] {
  return [
    ...['server', 'start-dev', '--ip', LOOPBACK],
    ...[
      '--port',
      String(ports.port),
      '--ui-port',
      String(ports.uiPort),
      '--http-port',
      String(ports.httpPort),
    ],
    ...['--db-filename', dbFile, '--namespace', 'default', '--log-level', 'warn', '--log-format', 'json'],
    ...configArguments(),
  ];
}
