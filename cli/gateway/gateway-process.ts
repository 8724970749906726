// The gateway of `holdfast up`: a detached process, at most one for a data folder.
import { dirname, join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import {
  gatewayAnswers,
  gatewayPaths,
  runningDetached,
  runningGateway,
  type GatewayRecord,
} from '../../gateway/gateway-record';
import { killUnready, startDetached, stopDetached } from '../../system/processes/detached-process';
import { parseListen, tryListening } from '../../system/listen-at';
import { withLock } from '../../system/lock';
import { makeFolder } from '../../system/make-folder';
import { isOwnRelease, packageRoot } from '../../system/package-root';
import { endGroup } from '../../system/processes/process-end';

const STOP_GRACE_MS = 5_000;
/** Longer than a healthy gateway is ever blocked. */
const SILENT_MS = 8_000;

export interface GatewayChoice {
  dataDir: string;
  /** The Temporal server and the namespace that it has to work with. */
  address: string;
  namespace: string;
  /** Task queue of the agents that it has to start. */
  queue: string;
  /** Where it has to listen; undefined: where it did before, or at the default. */
  listen: string | undefined;
  /** The named configuration, by absolute path; null: the data folder's. */
  config: string | null;
  /** The named profile of the Temporal configuration; undefined: any. */
  profile: string | undefined;
  /** Options of the command line that name the server and the configuration. */
  args: readonly string[];
}

/**
 * Returns the data folder's gateway, answering; starts it if needed. It outlives this process. One that does not
 * answer, or that is of another release, server, queue, place or configuration, is replaced. Throws `gateway_failed`, and `invalid_input` and
 * `port_in_use` for a place that it cannot have, before it ends another one.
 */
export async function ensureGateway(choice: GatewayChoice): Promise<GatewayRecord> {
  const { dataDir } = choice;
  const { lock, started } = gatewayPaths(dataDir);
  makeFolder(dirname(lock));
  return withLock(lock, async () => {
    // Also one that somebody has started with `holdfast serve`.
    const running = runningGateway(dataDir);
    const isWorking = running !== undefined && (await gatewayAnswers(running, SILENT_MS));
    if (isWorking && isWanted(running, choice)) return running;
    // It is not waited for: its starter held this lock, and is gone.
    await killUnready(started, () => runningDetached(dataDir)?.identity);
    const before = runningDetached(dataDir);
    if (choice.listen !== undefined && portOf(before?.url) !== parseListen(choice.listen)?.port)
      await tryListening(choice.listen, '--listen');
    // One that does not answer would not end by itself either.
    if (before) await endGroup(before.identity, isWorking ? STOP_GRACE_MS : 0);
    return startGateway(choice);
  });
}

/**
 * Ends the gateway of `holdfast up`, even while it starts; false if none ran. Those of `holdfast serve` are ended where
 * they were started.
 */
export const stopGateway = (dataDir: string): Promise<boolean> =>
  stopDetached(gatewayPaths(dataDir).started, () => runningDetached(dataDir)?.identity, STOP_GRACE_MS);

/** The port of a gateway's address. */
const portOf = (url: string | undefined): number | undefined =>
  url === undefined ? undefined : Number(new URL(url).port || 80);

const isWanted = (
  { address, namespace, queue, release, listen, config, profile }: GatewayRecord,
  wanted: GatewayChoice,
): boolean =>
  address === wanted.address &&
  namespace === wanted.namespace &&
  queue === wanted.queue &&
  isOwnRelease(release) &&
  config === wanted.config &&
  (wanted.profile === undefined || profile === wanted.profile) &&
  (wanted.listen === undefined || listen === wanted.listen);

async function startGateway({ dataDir, listen, args }: GatewayChoice): Promise<GatewayRecord> {
  const { log, started: record } = gatewayPaths(dataDir);
  const command = join(packageRoot(), 'bin', 'holdfast.js');
  const place = listen === undefined ? [] : ['--listen', listen];
  const started = await startDetached({
    args: [command, 'serve', '--detached', '--data', dataDir, ...args, ...place],
    // The configuration is among the arguments, unless `--no-config` has overruled the variable.
    env: { ...process.env, HOLDFAST_CONFIG: undefined, NO_COLOR: '1' },
    ...{ dataDir, name: 'The gateway', record, log, isQuiet: true },
    readyAs: (pid) => {
      const record = runningDetached(dataDir);
      return record?.identity.pid === pid ? record : undefined;
    },
  });
  if (started.ended === undefined) return started.facts;
  throw new HoldfastError('gateway_failed', { reason: started.tail || started.ended, log });
}
