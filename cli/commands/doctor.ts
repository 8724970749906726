// `holdfast doctor`: checks everything Holdfast depends on, and says what is missing and how to get it.
import { execFileSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import * as pty from 'node-pty';
import { connectTemporal, resolveServer } from '../../client/connect';
import { HoldfastClient } from '../../client/holdfast-client';
import { servedHost } from '../served-hosts';
import { hasPollers } from '../../client/delivery/no-answer/has-pollers';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { inertLine } from '../../contracts/text/inert';
import { MAIN_TASK_QUEUE, hostTaskQueue } from '../../contracts/ids';
import { encryptedPayloads } from '../../encryption/data-converter';
import { defaultCacheDir } from '../../system/data-dir';
import { makeFolder } from '../../system/make-folder';
import { findServerBinary } from '../../engine/binary/locate';
import { MIN_NODE, isNodeNewEnough } from '../../system/node-version';
import { isGuarded, isGuardStopped, runningServer, type EngineRecord } from '../../engine/server';
import { detectTreeKill } from '../../exec/processes/process-tree';
import { sessionEnvironment } from '../../exec/host/session-environment';
import { socketPathFor } from '../../exec/session-paths';
import { engineEnvironment, exposedNow, outsideProgram } from '../../workers/configuration/exposed';
import { readClientSettings } from '../../workers/configuration/read-client-settings';
import { findSilentWorker, runningWorker } from '../../workers/process/worker-record';
import { configOf, dataDirOf, ownHost, type GlobalOptions } from '../global-options';
import { printJson } from '../print/print-json';
import { styled } from '../terminal/terminal-style';
import { checkGateway, checkSilentEngine, checkWorker } from '../doctor/check-processes';
import { checkMetrics } from '../doctor/check-metrics';
import { checkProxies } from '../doctor/check-proxies';
import { checkQuota } from '../doctor/check-quota';
import { checkReach } from '../doctor/check-reach';
import { checkServerReleases, checkTerminalReleases } from '../doctor/check-releases';
import { checkSandbox } from '../doctor/check-sandbox';
import { checkSessions } from '../doctor/check-sessions';
import { checkStorage } from '../doctor/check-storage';
import { action, examples, type Define } from '../define-command';

export const define: Define = (command) =>
  command
    .addHelpText('after', examples('holdfast doctor', 'holdfast doctor --json | jq .'))
    .action(action(doctor));

interface Check {
  name: string;
  /** `warn`: works, with limitations. */
  status: 'ok' | 'warn' | 'fail';
  found: string;
  next?: string;
}

const MIN_FREE_BYTES = 1024 ** 3;

async function doctor(options: GlobalOptions): Promise<number> {
  const dataDir = dataDirOf(options);
  const { isConfigured } = resolveServer(options, process.env);
  const running = isConfigured ? undefined : await runningServer(dataDir);
  const gateway = await checkGateway(dataDir);
  const metrics = await checkMetrics(dataDir);
  const connect = connecting(options, dataDir, running);
  const quota = await checkQuota(dataDir, connect);
  const proxies = checkProxies(dataDir);
  const checks = [
    checkNode(),
    await checkServer(options, dataDir, running),
    { name: 'worker', ...checkWorker(dataDir) },
    ...(gateway ? [{ name: 'page', ...gateway }] : []),
    ...(isConfigured ? [] : [{ name: 'who reaches it', ...checkReach() }]),
    ...(metrics ? [{ name: 'metrics', ...metrics }] : []),
    ...(proxies ? [{ name: 'proxies', ...proxies }] : []),
    checkEncryption(options, dataDir),
    checkTerminal(),
    checkPython(dataDir),
    checkTreeKill(),
    { name: 'sandbox', ...(await checkSandbox(dataDir)) },
    await checkSockets(dataDir),
    ...(await openSessions(dataDir)),
    ...(await releases(dataDir, connect)),
    ...(quota ? [{ name: 'quota', ...quota }] : []),
    ...(await storage(dataDir, resolveServer(options, process.env).namespace)),
    checkDisk(dataDir),
  ];
  if (options.json) printJson(checks);
  else for (const check of checks) print(check);
  return checks.some(({ status }) => status === 'fail') ? 69 : 0;
}

function print({ name, status, found, next }: Check): void {
  const colour = { ok: 'green', warn: 'yellow', fail: 'red' } as const;
  process.stdout.write(
    `${styled(colour[status], status.padEnd(4))}  ${name.padEnd(16)}  ${inertLine(found)}\n`,
  );
  if (next) process.stdout.write(`${' '.repeat(24)}next: ${inertLine(next)}\n`);
}

function checkNode(): Check {
  const found = process.versions.node;
  return isNodeNewEnough()
    ? { name: 'Node', status: 'ok', found }
    : { name: 'Node', status: 'fail', found, next: `install Node ${MIN_NODE} or newer` };
}

async function checkServer(
  options: GlobalOptions,
  dataDir: string,
  running: EngineRecord | undefined,
): Promise<Check> {
  const name = 'Temporal server';
  const server = resolveServer(options, process.env);
  const silent = server.isConfigured ? undefined : await checkSilentEngine(dataDir);
  if (silent) return { name, ...silent };
  if (!server.isConfigured && !running) return checkServerBinary(name, dataDir);
  const address = running?.address ?? server.address;
  try {
    const client = await connectTemporal({ ...server, address });
    const worker = runningWorker(dataDir);
    const host = worker ? worker.host : (servedHost(dataDir) ?? (await ownHost(options)));
    const queues = [worker?.queue ?? MAIN_TASK_QUEUE, ...(host === null ? [] : [hostTaskQueue(host)])];
    const polled = await Promise.all(queues.map((queue) => hasPollers(client, queue)));
    await client.connection.close();
    const missing = queues.filter((_, index) => !polled[index]);
    const found = `answers at ${address}${running ? `, web UI ${running.uiUrl}` : ''}`;
    if (running && !isGuarded(running)) return { name, status: 'warn', ...unguarded(found, running) };
    if (missing.length === 0) return { name, status: 'ok', found };
    return {
      name,
      status: 'warn',
      found: `${found}; no worker polls ${missing.join(', ')}`,
      next: 'run `holdfast up`',
    };
  } catch (err) {
    return { name, status: 'fail', found: reasonOf(err), next: 'check --address or TEMPORAL_ADDRESS' };
  }
}

function unguarded(found: string, running: EngineRecord): Pick<Check, 'found' | 'next'> {
  return {
    found: `${found}; the guard of the web UI ${isGuardStopped(running) ? 'is stopped by a signal' : 'has ended'}`,
    next: 'run `holdfast up`, which restarts it',
  };
}

async function checkServerBinary(name: string, dataDir: string): Promise<Check> {
  let env: NodeJS.ProcessEnv;
  try {
    env = engineEnvironment({ dataDir });
  } catch (err) {
    return { name, status: 'fail', found: reasonOf(err), next: 'correct the configuration' };
  }
  const where = { cacheDir: defaultCacheDir(process.env), env };
  const binary = await findServerBinary(where).catch((err: unknown) => reasonOf(err));
  if (typeof binary === 'string')
    return { name, status: 'fail', found: binary, next: 'correct HOLDFAST_TEMPORAL_CLI' };
  if (binary)
    return { name, status: 'ok', found: `not running; will start ${binary.path} (${binary.version})` };
  const found = 'not running, and no program on PATH or in the cache';
  const next = '`holdfast up` downloads it, or builds it if Go is installed';
  return { name, status: 'warn', found, next };
}

function checkEncryption(options: GlobalOptions, dataDir: string): Check {
  const name = 'payloads';
  try {
    const { encryption: settings } = readClientSettings(dataDir, configOf(options));
    const [first] = settings.keys;
    if (!first) {
      return { name, status: 'ok', found: 'not encrypted' };
    }
    encryptedPayloads(settings);
    const rest = settings.required ? 'plaintext is refused' : 'plaintext is accepted, too';
    return { name, status: 'ok', found: `encrypted with key ${first.id}; ${rest}` };
  } catch (err) {
    // It names each fault with its file and its table: of a file that cannot be read, none is of [encryption].
    const isKnown = err instanceof HoldfastError;
    return {
      ...{ name, status: 'fail' },
      found: isKnown ? err.detail : reasonOf(err),
      next: isKnown ? err.next : 'correct [encryption] in holdfast.toml',
    };
  }
}

function checkTerminal(): Check {
  try {
    const terminal = pty.spawn('/bin/sh', ['-c', 'exit'], { env: { PATH: process.env.PATH ?? '' } });
    terminal.kill();
    return { name: 'node-pty', status: 'ok', found: 'opens terminals' };
  } catch (err) {
    const next = 'run `npm ci` again with install scripts allowed (`npm install-scripts approve node-pty`)';
    return { name: 'node-pty', status: 'fail', found: reasonOf(err), next };
  }
}

function checkPython(dataDir: string): Check {
  try {
    // The one that parses code for checks: with a sandbox, never one that its sessions could have put there.
    const { program, path = '' } = outsideProgram('python3', exposedNow({ dataDir }));
    const version = execFileSync(program, ['--version'], {
      encoding: 'utf8',
      env: { ...sessionEnvironment(process.env), PATH: path },
    });
    return { name: 'python3', status: 'ok', found: version.trim() };
  } catch (err) {
    if (err instanceof HoldfastError)
      return { name: 'python3', status: 'fail', found: err.message, next: 'change the PATH' };
    const next = 'install python3; only the runtime "python" needs it';
    return { name: 'python3', status: 'warn', found: 'not on the PATH', next };
  }
}

function checkTreeKill(): Check {
  const kind = detectTreeKill();
  if (kind !== 'process-search') return { name: 'tree kill', status: 'ok', found: kind };
  const next =
    'allow `unshare --pid` (root, or user namespaces): else a process that hides can survive a reset';
  return { name: 'tree kill', status: 'warn', found: 'by searching the process table', next };
}

async function checkSockets(dataDir: string): Promise<Check> {
  const name = 'private sockets';
  try {
    makeFolder(dataDir);
    const path = socketPathFor(dataDir, `doctor-${process.pid}`);
    await new Promise<void>((resolve, reject) => {
      const server = createServer().once('error', reject);
      server.listen(path, () => server.close(() => resolve()));
    });
    return { name, status: 'ok', found: path.replace(/\/[^/]*$/, '') };
  } catch (err) {
    return {
      name,
      status: 'fail',
      found: reasonOf(err),
      next: 'choose a shorter path or another folder with --data',
    };
  }
}

async function openSessions(dataDir: string): Promise<Check[]> {
  const { holders, sockets } = await checkSessions(dataDir);
  return [
    { name: 'sessions', ...holders },
    { name: 'session sockets', ...sockets },
  ];
}

type Connect = () => Promise<HoldfastClient>;

/** Throws `no_server` if none is known. */
function connecting(options: GlobalOptions, dataDir: string, running: EngineRecord | undefined): Connect {
  const server = resolveServer(options, process.env);
  const address = running?.address ?? server.address;
  return async () => {
    if (!server.isConfigured && !running)
      throw new HoldfastError('no_server', { address, reason: 'not running' });
    const dataConverter = encryptedPayloads(readClientSettings(dataDir, configOf(options)).encryption);
    const temporal = await connectTemporal({ ...server, address }, { dataConverter });
    const { namespace } = server;
    return new HoldfastClient(temporal, address, {
      queue: runningWorker(dataDir)?.queue,
      findSilentWorker: () => findSilentWorker(dataDir, { address, namespace }),
    });
  };
}

async function releases(dataDir: string, connect: Connect): Promise<Check[]> {
  const { builds, hosts } = await checkServerReleases(connect);
  return [
    { name: 'terminals', ...checkTerminalReleases(dataDir) },
    ...(builds ? [{ name: 'workers', ...builds }] : []),
    ...(hosts ? [{ name: 'hosts', ...hosts }] : []),
  ];
}

async function storage(dataDir: string, namespace: string): Promise<Check[]> {
  const { logs, values, checkpoints, bucket } = await checkStorage(dataDir, namespace);
  return [
    { name: 'session logs', ...logs },
    { name: 'large values', ...values },
    { name: 'checkpoints', ...checkpoints },
    ...(bucket ? [{ name: 'bucket', ...bucket }] : []),
  ];
}

function checkDisk(dataDir: string): Check {
  const name = 'disk';
  try {
    const { bavail, bsize } = statfsSync(dataDir);
    const found = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free in ${dataDir}`;
    if (bavail * bsize >= MIN_FREE_BYTES) return { name, status: 'ok', found };
    return { name, status: 'warn', found, next: 'free some space: a full disk stalls the terminals' };
  } catch (err) {
    return { name, status: 'fail', found: reasonOf(err), next: 'choose another folder with --data' };
  }
}
