// `holdfast doctor` on metrics: does the running worker offer them where `[telemetry]` says?
import { workersConfiguration } from '../../workers/configuration/configuration';
import { runningWorker, workerPaths } from '../../workers/process/worker-record';
import { reasonOf } from '../../contracts/errors/holdfast-error';

const ANSWER_MS = 2_000;

interface Found {
  status: 'ok' | 'warn';
  found: string;
  next?: string;
}

/** Undefined: no address is configured, or no worker runs. Faults of the configuration are for the other checks. */
export async function checkMetrics(dataDir: string): Promise<Found | undefined> {
  if (!runningWorker(dataDir)) return undefined;
  const place = placeIn(dataDir);
  if (place === null) return undefined;
  const url = `http://${place}/metrics`;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) });
    const page = await answer.text();
    if (page.includes('holdfast_start_time_seconds')) return { status: 'ok', found: url };
    throw new Error('another program answers there');
  } catch (err) {
    const next = `free the address or choose another, and restart the worker; its log is ${workerPaths(dataDir).log}`;
    return { status: 'warn', found: `${url}: ${reasonOf(err)}`, next };
  }
}

function placeIn(dataDir: string): string | null {
  try {
    return workersConfiguration(dataDir).telemetry.prometheus;
  } catch {
    return null;
  }
}
