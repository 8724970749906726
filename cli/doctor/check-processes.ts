// `holdfast doctor` on the processes of a data folder: do they run and respond?
import { readRecord, enginePaths } from '../../engine/record';
import { answers } from '../../engine/probe-server';
import { isOwnRelease, ownRelease } from '../../system/package-root';
import { gatewayAnswers, lastDetached, runningGateway } from '../../gateway/gateway-record';
import { isAlive } from '../../system/processes/process-identity';
import {
  findSilentWorker,
  isOfThisRelease,
  lastWorker,
  releaseText,
  runningWorker,
} from '../../workers/process/worker-record';
import { servedHost } from '../served-hosts';

const GATEWAY_MS = 5_000;

interface Found {
  status: 'ok' | 'warn' | 'fail';
  found: string;
  next?: string;
}

export function checkWorker(dataDir: string): Found {
  const silent = findSilentWorker(dataDir);
  const worker = runningWorker(dataDir);
  if (silent && worker) {
    const { pid } = worker.identity;
    const found = `pid ${pid} does not respond: ${String(silent.facts.reason)}`;
    return { status: 'fail', found, next: '`holdfast up --replace` ends it and starts another' };
  }
  if (worker) {
    const { identity, host, queue, address } = worker;
    const serves = `serves ${queue ? `queue ${queue}` : 'agents'}${host === null ? '' : ` and host ${host}`}`;
    const found = `pid ${identity.pid} of release ${releaseText(worker.release)} ${serves} at ${address}`;
    if (isOfThisRelease(worker)) return { status: 'ok', found };
    const next = `\`holdfast up\` replaces it by release ${releaseText(ownRelease())}; its sessions live on`;
    return { status: 'warn', found, next };
  }
  const served = servedHost(dataDir);
  if (served !== undefined && !lastWorker(dataDir))
    return { status: 'ok', found: `none of agents; a process serves host ${served}` };
  const found = lastWorker(dataDir) ? 'was killed' : 'not running';
  return { status: 'warn', found, next: 'run `holdfast up`' };
}

/** The API and the page; undefined if none has run: it is not needed. */
export async function checkGateway(dataDir: string): Promise<Found | undefined> {
  const gateway = runningGateway(dataDir);
  if (!gateway)
    return lastDetached(dataDir) && { status: 'warn', found: 'not running', next: 'run `holdfast up`' };
  const { url, identity, release } = gateway;
  if (!(await gatewayAnswers(gateway, GATEWAY_MS))) {
    const found = `pid ${identity.pid} exists but does not respond at ${url}`;
    return { status: 'fail', found, next: 'run `holdfast up`, which replaces it' };
  }
  const found = `pid ${identity.pid} of release ${releaseText(release)} answers at ${url}`;
  if (isOwnRelease(release)) return { status: 'ok', found };
  return {
    status: 'warn',
    found,
    next: `\`holdfast up\` replaces it by release ${releaseText(ownRelease())}`,
  };
}

/** Undefined if the data folder has no server of its own, or one that responds. */
export async function checkSilentEngine(dataDir: string): Promise<Found | undefined> {
  const engine = readRecord(enginePaths(dataDir));
  if (!engine || !isAlive(engine.identity) || (await answers(engine))) return undefined;
  const found = `its process ${engine.identity.pid} exists but does not respond at ${engine.address}`;
  return {
    status: 'fail',
    found,
    next: '`holdfast down`, then `holdfast up`: it continues with the same database',
  };
}
