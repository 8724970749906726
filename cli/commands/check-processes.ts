// What `holdfast doctor` says of the processes of a data folder: there, and answering?
import { readRecord, enginePaths } from '../../engine/record';
import { answers } from '../../engine/answers';
import { isAlive } from '../../exec/process-identity';
import { findSilentWorker, lastWorker, runningWorker } from '../../workers/worker-record';

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
    const found = `pid ${pid} does not answer: ${String(silent.facts.reason)}`;
    return { status: 'fail', found, next: '`holdfast up --replace` ends it and starts another' };
  }
  if (worker) {
    const { identity, host, queue, address } = worker;
    const serves = `serves ${queue ? `queue ${queue}` : 'agents'}${host === null ? '' : ` and host ${host}`}`;
    return { status: 'ok', found: `pid ${identity.pid} ${serves} at ${address}` };
  }
  const found = lastWorker(dataDir) ? 'was killed' : 'not running';
  return { status: 'warn', found, next: 'run `holdfast up`' };
}

/** Undefined where the data folder has no server of its own, or one that answers. */
export async function checkSilentEngine(dataDir: string): Promise<Found | undefined> {
  const engine = readRecord(enginePaths(dataDir));
  if (!engine || !isAlive(engine.identity) || (await answers(engine))) return undefined;
  const found = `its process ${engine.identity.pid} is there and does not answer at ${engine.address}`;
  return {
    status: 'fail',
    found,
    next: '`holdfast down`, then `holdfast up`: it goes on with the same database',
  };
}
