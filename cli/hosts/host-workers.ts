// Workers that serve one host, for `holdfast host serve` and for a chat that is a host meanwhile.
import { resolve } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { LOCAL_HOST } from '../../contracts/ids';
import type { Access } from '../../contracts/sessions/remote-hosts';
import { HostAccess } from '../../exec/host/host-access';
import { ProcessLog } from '../../system/log/process-log';
import { makeFolder } from '../../system/make-folder';
import { workersConfiguration } from '../../workers/configuration/configuration';
import type { Workers, WorkersLog } from '../../workers/workers';
import { openContext } from '../context';
import { configOf, dataDirOf, type GlobalOptions } from '../global-options';

export interface ServeHostOptions extends GlobalOptions {
  access?: Access;
  root?: string;
  listen?: string;
}

interface HostWorkers {
  workers: Workers;
  root: string;
  access: Access;
  address: string;
  namespace: string;
}

/** Workers for one host and no agents, on the server that the options name, else the data folder's own. */
export async function hostWorkers(
  host: string,
  options: ServeHostOptions,
  log: WorkersLog,
): Promise<HostWorkers> {
  // Two machines on its queue would each take some of its commands.
  if (host === LOCAL_HOST)
    throw new HoldfastError('invalid_input', {
      what: 'The name of the host to serve',
      got: host,
      allowed: `any other: ${LOCAL_HOST} is the machine beside the agents`,
    });
  const dataDir = dataDirOf(options);
  const { address, namespace } = await serverOf(options);
  const root = resolve(options.root ?? process.cwd());
  makeFolder(dataDir);
  const stored = new HostAccess(dataDir, host);
  if (options.access) stored.set(options.access);
  // Not for every command: it loads Temporal's native code.
  const { createWorkers } = await import('../../workers/create-workers');
  const { DefaultLogger } = await import('@temporalio/worker');
  const { installRuntime, metricsExporter } = await import('../../workers/telemetry/install-runtime');
  const { telemetry } = workersConfiguration(dataDir, configOf(options) ?? null);
  // Of the SDK, people see only errors: `log` reports the rest.
  const logger = log instanceof ProcessLog ? log : new DefaultLogger('ERROR');
  const metrics = metricsExporter(telemetry, telemetry.prometheus, process.env);
  installRuntime({ logger, metrics, warn: (message, facts) => log.warn(message, facts) });
  const workers = await createWorkers({
    dataDir,
    address,
    namespace,
    profile: options.profile,
    host,
    agents: false,
    workdir: root,
    listen: options.listen,
    config: configOf(options) ?? undefined,
    log,
  });
  return { workers, root, access: stored.current, address, namespace };
}

/** Throws `no_server` before anything is written. */
export async function serverOf(options: GlobalOptions): Promise<{ address: string; namespace: string }> {
  await using context = await openContext(options, { start: false });
  return { address: context.client.address, namespace: context.namespace };
}
