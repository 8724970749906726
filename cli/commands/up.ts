// `holdfast up`: the embedded server, its worker and the page; for a named server no server.
import { resolve } from 'node:path';
import { resolveServer } from '../../client/connect';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { LOCAL_HOST, MAIN_TASK_QUEUE } from '../../contracts/ids';
import { UI_VIEWS, uiViewUrl } from '../../contracts/agents/ui-views';
import { inertLine } from '../../contracts/text/inert';
import { ownRelease, type Release } from '../../system/package-root';
import { chosenConfig, recordHost } from '../../workers/configuration/recorded-choice';
import { isOfThisRelease, releaseText, runningWorker } from '../../workers/process/worker-record';
import { openContext } from '../context';
import { configOf, dataDirOf, ownHost, type GlobalOptions } from '../global-options';
import type { CliContext } from '../open-context';
import { ensureGateway } from '../gateway/gateway-process';
import { pageLink } from '../gateway/page-link';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';
import { oneAtATime } from '../waiting/one-at-a-time';
import { checkedQueue } from '../../contracts/ids';
import { collect, hostName, listenAddress, named, port } from '../arguments';
import { action, examples, type Define } from '../define-command';

interface UpOptions extends GlobalOptions {
  port?: number;
  uiPort?: number;
  /** False for `--no-workdir`. */
  workdir?: string | false;
  /** False for `--no-tools`. */
  tools?: string[] | false;
  host?: string;
  agentsOnly?: boolean;
  /** False for `--no-queue`. */
  queue?: string | false;
  join?: boolean;
  replace?: boolean;
  /** Where the gateway listens. */
  listen?: string;
  /** False for `--no-serve`. */
  serve?: boolean;
}

export const define: Define = (command) =>
  command
    .option('--port <n>', 'port of the Temporal server', port)
    .option('--ui-port <n>', 'port of the web UI', port)
    .option('--workdir <dir>', 'where new shells start, kept for later starts', named)
    .option('--no-workdir', 'start shells in the default folder again')
    .option('--tools <file>', 'module with your own tools, kept for later starts; may be repeated', collect)
    .option('--no-tools', 'stop loading your own tools')
    .option(
      '--host <name>',
      'name of this machine on a server that others share (default: its own name)',
      hostName,
    )
    .option('--agents-only', 'serve agents but no shells')
    .option('--queue <name>', 'task queue of the agents, kept for later starts', checkedQueue)
    .option('--no-queue', 'use the default task queue again')
    .option('--join', 'serve agents even if other workers on the queue offer something else')
    .option('--replace', 'end a worker that does not respond, and start another')
    .option(
      '--listen <address:port>',
      'where the API and the page are served (default: 127.0.0.1:7280, or any free port)',
      listenAddress,
    )
    .option('--no-serve', 'start neither the API nor the page')
    .addHelpText(
      'after',
      examples(
        'holdfast up                                          server, worker and page on this machine',
        'holdfast up --address temporal.example:7233 --host laptop   a worker of a server that others share',
        'holdfast up --tools ./my-tools.ts --workdir ~/work',
      ),
    )
    .action(action(up));

const up = (options: UpOptions): Promise<number> =>
  oneAtATime(dataDirOf(options), options, () => start(options));

async function start(options: UpOptions): Promise<number> {
  const { port, uiPort } = options;
  const workdir = options.workdir === false ? null : options.workdir && resolve(options.workdir);
  const tools = options.tools === false ? [] : options.tools?.map((file) => resolve(file));
  const host = await hostOf(options);
  const queue = options.queue === false ? null : options.queue;
  const { join, replace } = options;
  const worker = { workdir, tools, host, queue, join, replace, thisRelease: true };
  const before = runningWorker(dataDirOf(options));
  await using context = await openContext(options, {
    start: true,
    startWorker: true,
    staysOnFullDisk: true,
    port,
    uiPort,
    ...worker,
  });
  if (options.host !== undefined) recordHost(context.dataDir, options.host);
  const { client, namespace, uiUrl, dataDir } = context;
  const page = options.serve === false ? null : await startedPage(options, context);
  const { identity, cwd, queue: served } = context.worker ?? {};
  const uiLink = context.uiLink();
  // The link above lets the browser in.
  const view = uiUrl && uiViewUrl(UI_VIEWS[0], { uiUrl, namespace, saved: true });
  const facts = {
    address: client.address,
    namespace,
    uiUrl,
    uiLink,
    page,
    views: uiUrl
      ? UI_VIEWS.map((one) => ({ name: one.name, url: uiViewUrl(one, { uiUrl, namespace, saved: true }) }))
      : [],
    dataDir,
    host,
    queue: served ?? MAIN_TASK_QUEUE,
    workerPid: identity?.pid ?? null,
    release: ownRelease(),
    /** The worker of another release in whose place this one is. */
    replaced:
      before && !isOfThisRelease(before)
        ? { release: before.release ?? null, pid: before.identity.pid }
        : null,
  };
  if (options.json) printJson(facts);
  else printStarted({ ...facts, view, cwd });
  return 0;
}

interface Started {
  address: string;
  namespace: string;
  page: { link: string } | null;
  uiLink: string | null;
  /** The view of the web UI with those that wait. */
  view: string | null;
  dataDir: string;
  host: string | null;
  queue: string;
  workerPid: number | null;
  release: Release;
  replaced: { release: Release; pid: number } | null;
  /** Where shells start. */
  cwd: string | undefined;
}

function printStarted({ page, uiLink, view, replaced, cwd, ...facts }: Started): void {
  if (replaced)
    note(
      `replaced the worker of release ${inertLine(releaseText(replaced.release))} (pid ${replaced.pid}); its sessions live on`,
    );
  process.stdout.write(
    `Temporal server  ${facts.address} (namespace ${facts.namespace})\n` +
      (page ? `page             ${page.link}\n` : '') +
      (uiLink ? `web UI           ${uiLink}\n` : '') +
      (uiLink && view ? `who waits        ${view}\n` : '') +
      `release          ${inertLine(releaseText(facts.release))}\n` +
      `worker           pid ${facts.workerPid}, ${inertLine(serves(facts, cwd))}\n` +
      `data             ${inertLine(facts.dataDir)}\n`,
  );
}

/** The gateway's address, and a link to its page that logs in once. Throws `gateway_failed`. */
async function startedPage(
  options: UpOptions,
  { client: { address, server }, namespace, dataDir }: CliContext,
): Promise<{ url: string; link: string }> {
  const config = configOf(options);
  const { url } = await ensureGateway({
    ...{ dataDir, address, namespace, queue: server.queue, listen: options.listen },
    ...{ config: chosenConfig(dataDir, config), profile: options.profile },
    args: [
      ...(resolveServer(options, process.env).isConfigured ? ['--address', address] : []),
      ...['--namespace', namespace],
      ...(options.profile === undefined ? [] : ['--profile', options.profile]),
      ...(config ? ['--config', config] : []),
    ],
  });
  return { url, link: await pageLink(dataDir, url, 'admin') };
}

function serves({ host, queue }: { host: string | null; queue: string }, cwd: string | undefined): string {
  const agents = queue === MAIN_TASK_QUEUE ? 'agents' : `agents of queue ${queue}`;
  return host === null
    ? `serves only ${agents}`
    : `serves ${agents} and host ${host}, shells start in ${cwd}`;
}

/** Null for agents only. Throws `invalid_input` for a name that would belong to another machine on this server. */
export async function hostOf(
  options: Pick<UpOptions, 'host' | 'agentsOnly' | keyof GlobalOptions>,
): Promise<string | null> {
  const { host, agentsOnly } = options;
  if (agentsOnly) return null;
  const isEmbedded = !resolveServer(options, process.env).isConfigured;
  if (host !== undefined && (host === LOCAL_HOST) !== isEmbedded)
    throw new HoldfastError('invalid_input', {
      what: '--host',
      got: host,
      allowed: isEmbedded
        ? `${LOCAL_HOST} for the embedded server, which has no other machine`
        : `any name but ${LOCAL_HOST}: each machine on a server has its own`,
      next: isEmbedded
        ? 'Leave --host out, or name a server with --address.'
        : 'Choose a name for this machine.',
    });
  return host ?? ownHost(options);
}
