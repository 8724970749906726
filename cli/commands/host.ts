// `holdfast host`: serves this machine's shells to a Temporal server, lists the machines that do, and what each allows.
import { resolve } from 'node:path';
import { LOCAL_HOST } from '../../contracts/ids';
import { inertLine } from '../../contracts/text/inert';
import type { Access, HostState } from '../../contracts/sessions/remote-hosts';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { attachToken } from '../../exec/attach/attach-keys';
import { HostAccess } from '../../exec/host/host-access';
import { makeFolder } from '../../system/make-folder';
import { ProcessLog } from '../../system/log/process-log';
import { workersConfiguration } from '../../workers/configuration/configuration';
import type { Workers, WorkersLog } from '../../workers/workers';
import { configOf, dataDirOf, openContext, ownHost, type GlobalOptions } from '../context';
import { knownHosts } from '../served-hosts';
import { printJson } from '../print/print-json';
import { tellUnanswered } from '../print/tell-unanswered';
import { note, styled } from '../terminal/terminal-style';

export interface ServeHostOptions extends GlobalOptions {
  access?: Access;
  root?: string;
  listen?: string;
}

/** Serves until Ctrl-C or TERM; its sessions live on, and the next `serve` of this name takes them over. */
export async function serveHost(host: string, options: ServeHostOptions): Promise<number> {
  const { workers, root, access, address, namespace } = await hostWorkers(host, options, logOf(options));
  await workers.run({
    onReady({ adopted }) {
      const facts = { host, access, root, address, namespace, adopted, pid: process.pid };
      if (options.json) printJson(facts);
      else {
        note(`host ${host} serves ${address} (namespace ${namespace}), access ${access}`);
        note(`shells start in ${root}; ctrl-c stops serving, programs in sessions keep running`);
      }
    },
  });
  return 0;
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

/** For programs, lines as of all processes that serve. Throws `config_invalid`. */
function logOf(options: GlobalOptions): WorkersLog {
  if (!options.json) return NOTES;
  const { log } = workersConfiguration(dataDirOf(options), configOf(options) ?? null);
  return new ProcessLog('host', log.level).takeWarnings();
}

/** For people. */
const NOTES: WorkersLog = {
  info: () => undefined,
  warn: (message, facts) => note(`${message} ${JSON.stringify(facts)}`),
};

export async function listHosts(options: GlobalOptions): Promise<number> {
  await using context = await openContext(options, { start: false });
  const { hosts, unanswered } = await context.client.hosts.listAnswering();
  if (options.json) printJson(hosts);
  else if (hosts.length + unanswered.length === 0)
    note('No host yet: run `holdfast host serve NAME` on a machine.');
  else for (const state of hosts) process.stdout.write(`${line(state)}\n`);
  const next = '`holdfast host show NAME` says why';
  tellUnanswered(options, { what: 'hosts', unanswered, next });
  return 0;
}

export async function showHost(host: string, options: GlobalOptions): Promise<number> {
  await using context = await openContext(options, { start: false });
  const state = await context.client.hosts.state(host);
  if (options.json) {
    printJson(state);
    return 0;
  }
  const { facts } = state;
  const rows: [string, string][] = [
    ['status', `${state.status} since ${state.since}${state.reason ? `: ${state.reason}` : ''}`],
    ['namespace', state.namespace],
  ];
  if (facts) {
    rows.push(['access', facts.access], ['root', facts.root], ['version', facts.version]);
    rows.push(['protocol', String(facts.protocol)], ['tree kill', facts.treeKill]);
    if (facts.listens)
      rows.push(['listens', `${facts.listens.address}, SHA-256 ${facts.listens.fingerprint}`]);
    rows.push(
      ['sandbox', facts.sandbox ?? 'none'],
      ['capabilities', facts.capabilities.join(', ') || 'none'],
    );
  }
  for (const [name, value] of rows)
    process.stdout.write(`${styled('bold', name.padEnd(14))}${inertLine(value)}\n`);
  return 0;
}

/** Throws `unknown_host` for one that this folder has never served: a setting for it would apply to nothing. */
function requireKnown(host: string, options: GlobalOptions): void {
  const known = knownHosts(dataDirOf(options));
  if (known.includes(host) || host === ownHost(options)) return;
  const allowed = known.join(', ') || `${ownHost(options)}: nothing else was served from this folder`;
  throw new HoldfastError('unknown_host', { host, allowed });
}

/** On the host itself: what code may do there, from the next call on. Without a level it is shown. */
export function hostAccess(host: string, level: Access | undefined, options: GlobalOptions): Promise<number> {
  requireKnown(host, options);
  const stored = new HostAccess(dataDirOf(options), host);
  if (level !== undefined) {
    makeFolder(dataDirOf(options));
    stored.set(level);
  }
  const { current: access } = stored;
  if (options.json) printJson({ host, access });
  else process.stdout.write(`${access}\n`);
  return Promise.resolve(0);
}

/** On the host itself: the token that admits people to its terminals, for `--token-file` and HOLDFAST_HOST_TOKEN. */
export function hostToken(host: string, options: GlobalOptions): Promise<number> {
  requireKnown(host, options);
  makeFolder(dataDirOf(options));
  const token = attachToken(dataDirOf(options), host);
  if (options.json) printJson({ host, token });
  else process.stdout.write(`${token}\n`);
  return Promise.resolve(0);
}

export async function forgetHost(host: string, options: GlobalOptions): Promise<number> {
  await using context = await openContext(options, { start: false });
  await context.client.hosts.forget(host);
  if (options.json) printJson({ host, forgotten: true });
  return 0;
}

function line({ host, status, since, reason, facts }: HostState): string {
  const access = facts ? `${facts.access}, ${facts.root}, Holdfast ${facts.version}` : '';
  const when = `since ${since}${reason ? `: ${reason}` : ''}`;
  const colour = status === 'online' ? 'green' : 'yellow';
  const [name, is] = [styled('bold', inertLine(host)), styled(colour, inertLine(status))];
  return `${name}  ${is}  ${inertLine(access)}  ${styled('dim', inertLine(when))}`;
}
