// `holdfast worker`: serves agents in the foreground, for systemd, containers and the like.
import { resolve } from 'node:path';
import { makeFolder } from '../../system/make-folder';
import { recordHost } from '../../workers/configuration/recorded-choice';
import { serverOf } from '../commands/host';
import { configOf, dataDirOf, type GlobalOptions } from '../context';
import { printJson } from '../print/print-json';
import { hostOf } from './up';

export interface WorkerOptions extends GlobalOptions {
  host?: string;
  agentsOnly?: boolean;
  queue?: string;
  join?: boolean;
  workdir?: string;
  tools?: string[];
  /** `ADDRESS:PORT` of `/healthz` and `/readyz`. */
  probes?: string;
  /** In milliseconds. */
  drain?: number;
}

/** Serves until SIGTERM or Ctrl-C, then lets its steps end. It logs to stderr, one JSON line for each event. */
export async function serveWorker(options: WorkerOptions): Promise<number> {
  const dataDir = dataDirOf(options);
  const { queue, join, probes, drain: drainMs, profile, tools = [] } = options;
  const host = hostOf(options);
  const { address, namespace } = await serverOf(options);
  makeFolder(dataDir);
  if (options.host !== undefined) recordHost(dataDir, options.host);
  // Only now: it loads Temporal's native code.
  const { runWorker } = await import('../../workers/process/run-worker');
  await runWorker({
    ...{ dataDir, address, namespace, profile, host, queue, join, probes, drainMs },
    workdir: options.workdir === undefined ? undefined : resolve(options.workdir),
    tools: tools.map((file) => resolve(file)),
    config: configOf(options) ?? undefined,
    onReady: ({ identity, queue: served }) => {
      if (options.json) printJson({ address, namespace, host, queue: served, dataDir, pid: identity.pid });
    },
  });
  return 0;
}
