// `holdfast host`: serves this machine's shells to a Temporal server, lists the machines that do, and what each allows.
import { inertLine } from '../../contracts/text/inert';
import type { Command } from 'commander';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { HostState } from '../../contracts/schemas/remote-hosts';
import { ACCESS, type Access } from '../../contracts/sessions/remote-hosts';
import { attachToken } from '../../exec/attach/attach-keys';
import { HostAccess } from '../../exec/host/host-access';
import { makeFolder } from '../../system/make-folder';
import { ProcessLog } from '../../system/log/process-log';
import { workersConfiguration } from '../../workers/configuration/configuration';
import type { WorkersLog } from '../../workers/workers';
import { openContext } from '../context';
import { configOf, dataDirOf, ownHost, type GlobalOptions } from '../global-options';
import { hostName, named } from '../arguments';
import { action, below, examples, type Define } from '../define-command';
import { enrolHost } from '../hosts/enrol-host';
import { hostWorkers, type ServeHostOptions } from '../hosts/host-workers';
import { oneOf } from '../one-of';
import { knownHosts } from '../served-hosts';
import { printJson } from '../print/print-json';
import { reportUnanswered } from '../print/report-unanswered';
import { note, styled } from '../terminal/terminal-style';

const accessLevel = oneOf('The access', ACCESS);

/** A command that takes a host's name. */
const ofHost = (
  work: (host: string, options: GlobalOptions) => Promise<number>,
): ((name: string, own: object, self: Command) => Promise<void>) =>
  action((name, _own, self) => work(hostName(name), self.optsWithGlobals<GlobalOptions>()));

export const define: Define = (host) => {
  below(host, 'serve <name>', 'serve the shells of this machine until ctrl-c; programs in them keep running')
    .option('--access <level>', 'read-write, read-only or off; kept for later starts', accessLevel)
    .option('--root <dir>', 'where shells start (default: this folder)', named)
    .option('--listen <address:port>', 'accept connections there for attach and live output (TLS, token)')
    .action(ofHost(serveHost));
  below(host, 'ls', 'all hosts: which are online, what each allows').action(
    action((_own: object, self: Command) => listHosts(self.optsWithGlobals<GlobalOptions>())),
  );
  below(host, 'show <name>', 'one host').action(ofHost(showHost));
  below(
    host,
    'access <name> [level]',
    'on the host itself: what code may do there, from the next call on',
  ).action(
    action((name: string, level: string | undefined, _own: object, self: Command) =>
      hostAccess(
        hostName(name),
        level === undefined ? undefined : accessLevel(level),
        self.optsWithGlobals<GlobalOptions>(),
      ),
    ),
  );
  below(host, 'enrol <name>', 'make a separate namespace for a host that must not reach the agents').action(
    ofHost(enrolHost),
  );
  below(
    host,
    'token <name>',
    'on the host itself: print the token that admits people when it listens',
  ).action(ofHost(hostToken));
  below(host, 'forget <name>', 'remove a host that will not come back').action(ofHost(forgetHost));
  return host.addHelpText(
    'after',
    examples(
      'holdfast host serve laptop --address temporal.example:7233   this machine, until ctrl-c',
      'holdfast host serve laptop --access read-only --root ~/work',
      'holdfast host access laptop off                               on that machine: run nothing any more',
      'holdfast host ls',
    ),
  );
};

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
  reportUnanswered(options, { what: 'hosts', unanswered, next });
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
async function requireKnown(host: string, options: GlobalOptions): Promise<void> {
  const known = knownHosts(dataDirOf(options));
  if (known.includes(host)) return;
  const own = await ownHost(options);
  if (host === own) return;
  const allowed = known.join(', ') || `${own}: nothing else was served from this folder`;
  throw new HoldfastError('unknown_host', { host, allowed });
}

/** On the host itself: what code may do there, from the next call on. Without a level it is shown. */
export async function hostAccess(
  host: string,
  level: Access | undefined,
  options: GlobalOptions,
): Promise<number> {
  await requireKnown(host, options);
  const stored = new HostAccess(dataDirOf(options), host);
  if (level !== undefined) {
    makeFolder(dataDirOf(options));
    stored.set(level);
  }
  const { current: access } = stored;
  if (options.json) printJson({ host, access });
  else process.stdout.write(`${access}\n`);
  return 0;
}

/** On the host itself: the token that admits people to its terminals, for `--token-file` and HOLDFAST_HOST_TOKEN. */
export async function hostToken(host: string, options: GlobalOptions): Promise<number> {
  await requireKnown(host, options);
  makeFolder(dataDirOf(options));
  const token = attachToken(dataDirOf(options), host);
  if (options.json) printJson({ host, token });
  else process.stdout.write(`${token}\n`);
  return 0;
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
