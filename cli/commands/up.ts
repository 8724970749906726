// `holdfast up` and `down`: the embedded server and its worker; or only a worker, for a server that is named.
import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { stopServer } from '../../engine/server';
import { detectTreeKill } from '../../exec/holder/process-tree';
import { SessionHost } from '../../exec/session-host';
import { stopWorker } from '../../workers/worker-process';
import { dataDirOf, openContext, type GlobalOptions } from '../context';
import { stopMarker } from '../keep-running';
import { printJson } from '../print-json';

export interface UpOptions extends GlobalOptions {
  port?: number;
  uiPort?: number;
  /** False for `--no-workdir`. */
  workdir?: string | false;
  /** False for `--no-tools`. */
  tools?: string[] | false;
}
export interface DownOptions extends GlobalOptions {
  sessions?: boolean;
}

export async function up(options: UpOptions): Promise<number> {
  const { port, uiPort } = options;
  const workdir = options.workdir === false ? null : options.workdir && resolve(options.workdir);
  const tools = options.tools === false ? [] : options.tools?.map((file) => resolve(file));
  await using context = await openContext(options, {
    start: true,
    startWorker: true,
    port,
    uiPort,
    workdir,
    tools,
  });
  const { client, namespace, uiUrl, dataDir, worker } = context;
  const uiLink = context.uiLink();
  const facts = {
    address: client.address,
    namespace,
    uiUrl,
    uiLink,
    dataDir,
    workerPid: worker?.identity.pid ?? null,
  };
  if (options.json) printJson(facts);
  else {
    process.stdout.write(
      `Temporal server  ${facts.address} (namespace ${namespace})\n` +
        (uiLink ? `web UI           ${uiLink}\n` : '') +
        `worker           pid ${facts.workerPid}, shells begin in ${worker?.cwd}\n` +
        `data             ${dataDir}\n`,
    );
  }
  return 0;
}

export async function down(options: DownOptions): Promise<number> {
  const dataDir = dataDirOf(options);
  if (existsSync(dataDir)) writeFileSync(stopMarker(dataDir), '');
  // While the worker lives, so that it records the ends; again for what was opened meanwhile.
  let sessions = options.sessions ? await closeSessions(dataDir) : 0;
  const worker = await stopWorker(dataDir);
  if (options.sessions) sessions += await closeSessions(dataDir);
  const server = await stopServer(dataDir);
  const left = options.sessions ? 0 : openSessions(dataDir).length;
  if (options.json)
    process.stdout.write(
      `${JSON.stringify({ server, worker, sessionsClosed: sessions, sessionsLeft: left })}\n`,
    );
  else {
    process.stdout.write(
      `server ${server ? 'stopped' : 'was not running'}, worker ${worker ? 'stopped' : 'was not running'}`,
    );
    process.stdout.write(
      options.sessions ? `, ${sessions} sessions ended\n` : `, ${left} sessions live on\n`,
    );
  }
  return 0;
}

function sessionHost(dataDir: string): SessionHost {
  return new SessionHost({ dataDir, cwd: '/', env: {}, treeKill: detectTreeKill() });
}

function openSessions(dataDir: string): ReturnType<SessionHost['list']> {
  const host = sessionHost(dataDir);
  return host.list().filter((ref) => host.isOpen(ref));
}

async function closeSessions(dataDir: string): Promise<number> {
  const host = sessionHost(dataDir);
  const closed = await host.closeAll('holdfast down --sessions');
  host.detach();
  return closed;
}
