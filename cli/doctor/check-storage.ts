// `holdfast doctor` on the disk: how much of their limits the logs and the large values use.
import { BlobFolder } from '../../activities/blobs/blob-folder';
import { inMib, usageOf } from '../../activities/blobs/blob-room';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { DAY_MS, type Quotas } from '../../contracts/sessions/quotas';
import { logUsage, type LogUsage } from '../../exec/host/log-quota';
import { configurationSource, readConfiguration } from '../../workers/configuration/configuration';
import { blobFolder } from '../../workers/open-blobs';
import { recordedConfig } from '../../workers/configuration/recorded-choice';

interface Found {
  status: 'ok' | 'warn' | 'fail';
  found: string;
  next?: string;
}

/** Above this, calls may soon be refused. */
const NEARLY_FULL = 0.9;

/** Reads the limits as the worker of this data folder would. */
export async function checkStorage(dataDir: string): Promise<{ logs: Found; values: Found }> {
  try {
    const source = configurationSource({ dataDir, config: recordedConfig(dataDir) ?? undefined });
    const { storage } = readConfiguration(source);
    return { logs: logsOf(dataDir, storage), values: await valuesOf(dataDir, storage) };
  } catch (err) {
    const fault: Found = { status: 'fail', found: reasonOf(err), next: 'fix that, then check again' };
    return { logs: fault, values: fault };
  }
}

function logsOf(dataDir: string, { sessionLogBytes, hostLogBytes, closedSessionMs }: Quotas): Found {
  const ofHost = ({ host, bytes, sessions, largest }: LogUsage): string => {
    const { agent, session } = largest.ref;
    const most = `session ${session} of ${agent} with ${share(largest.bytes, sessionLogBytes)}`;
    return `host ${host}: ${share(bytes, hostLogBytes)} in ${sessions} sessions, the largest ${most}`;
  };
  const used = logUsage(dataDir).map(ofHost);
  const found = [...used, `closed ones are kept for ${closedSessionMs / DAY_MS} days`].join('; ');
  // At their limit they drop their oldest part: no action needed.
  return { status: 'ok', found: used.length > 0 ? found : 'none' };
}

async function valuesOf(dataDir: string, { valueBytes, agentValueBytes }: Quotas): Promise<Found> {
  const { bytes, agents } = usageOf(await new BlobFolder(blobFolder(dataDir)).list());
  const [most] = [...agents].sort(([, a], [, b]) => b - a);
  const held = most ? `, the most by calls of ${most[0]}: ${share(most[1], agentValueBytes)}` : '';
  const found = `${share(bytes, valueBytes)}${held}`;
  const isFull = bytes >= NEARLY_FULL * valueBytes || (most?.[1] ?? 0) >= NEARLY_FULL * agentValueBytes;
  if (!isFull) return { status: 'ok', found };
  return { status: 'warn', found, next: 'end open calls, or raise the limits in `[storage]`' };
}

const share = (bytes: number, allowed: number): string => `${inMib(bytes)} of ${inMib(allowed)}`;
