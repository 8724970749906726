// `holdfast down`: ends the gateway, the worker and the server, and with `--sessions` first the sessions. Each step is
// done even if others fail, and even if the folder is not writable.
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { LiveTokens } from '../../activities/agents/live-tokens';
import { HoldfastError, asHoldfastError } from '../../contracts/errors/holdfast-error';
import { runsElsewhere, stopServer } from '../../engine/server';
import { FilesDoor } from '../../exec/transfer/door/files-door';
import { detectTreeKill } from '../../exec/processes/process-tree';
import { SessionHost, type ClosedSession } from '../../exec/host/session-host';
import { endLeftOverSpares } from '../../exec/host/holders/spare-holder';
import { stopMarker } from '../../system/processes/stop-marker';
import { asStorageFailure } from '../../system/storage-failure';
import { stopWorker } from '../../workers/process/worker-process';
import { dataDirOf, type GlobalOptions } from '../global-options';
import { stopGateway } from '../gateway/gateway-process';
import { closedSessionFacts, closedSessionLine } from '../print/closed-session';
import { printJson } from '../print/print-json';
import { reportIfSlow } from '../waiting/report-if-slow';
import { note } from '../terminal/terminal-style';
import { counted } from '../../contracts/text/counted';
import { oneAtATime } from '../waiting/one-at-a-time';
import { action, examples, type Define } from '../define-command';

interface DownOptions extends GlobalOptions {
  sessions?: boolean;
}

export const define: Define = (command) =>
  command
    .option('--sessions', 'end the shells too')
    .addHelpText('after', examples('holdfast down', 'holdfast down --sessions   the shells, too'))
    .action(action(down));

/** All sessions are ended at once, by force if necessary; a limit for all of them together. */
const SESSIONS_MS = 20_000;
const REASON = 'holdfast down --sessions';

/** Longer than a start usually takes: a frozen `up` must not keep everything running. */
const PATIENCE_MS = 60_000;

async function down(options: DownOptions): Promise<number> {
  const dataDir = dataDirOf(options);
  const work = (): Promise<number> => stop(dataDir, options);
  if (!existsSync(dataDir)) return work();
  return oneAtATime(dataDir, { json: options.json, patienceMs: PATIENCE_MS }, work);
}

async function stop(dataDir: string, options: DownOptions): Promise<number> {
  const faults: HoldfastError[] = [];
  const step = async <T, U>(work: () => T | Promise<T>, otherwise: U): Promise<T | U> => {
    try {
      return await work();
    } catch (err) {
      faults.push(asHoldfastError(asStorageFailure(err)));
      return otherwise;
    }
  };
  const closeSessions = (): Promise<ClosedSession[]> =>
    options.sessions
      ? step(() => reportIfSlow('the sessions to end', closed(dataDir)), [])
      : Promise.resolve([]);
  // What runs in another container goes on.
  if (existsSync(dataDir) && !runsElsewhere(dataDir))
    await step(() => writeFileSync(stopMarker(dataDir), ''), undefined);
  // While the worker lives, so that it records the ends; again for sessions opened meanwhile.
  const before = await closeSessions();
  const gateway = await step(() => reportIfSlow('the API and the page to stop', stopGateway(dataDir)), null);
  const worker = await step(() => reportIfSlow('the worker to stop', stopWorker(dataDir)), null);
  const after = await closeSessions();
  // One of which something is left is found again.
  const isAgain = ({ ref }: ClosedSession): boolean => after.some((one) => isDeepStrictEqual(one.ref, ref));
  const sessions = [...before.filter((one) => !isAgain(one)), ...after];
  if (options.sessions) {
    await step(() => endLeftOverSpares(dataDir), undefined);
    await step(() => LiveTokens.removeLeftOver(dataDir), undefined);
    await step(() => FilesDoor.removeLeftOver(dataDir), undefined);
  }
  const server = await step(() => reportIfSlow('the server to stop', stopServer(dataDir)), null);
  const left = await step(() => openSessions(dataDir), null);
  faults.push(...sessions.flatMap(({ failure }) => failure ?? []));
  const ended = sessions.filter(({ failure }) => !failure);
  if (options.json) {
    printJson({
      server,
      worker,
      gateway,
      sessionsClosed: ended.length,
      sessionsLeft: left,
      sessions: sessions.map(closedSessionFacts),
      problems: faults.map((fault) => fault.toJSON()),
    });
  } else {
    for (const line of sessions.flatMap(closedSessionLine)) note(line);
    for (const { code, message } of faults) note(`holdfast: ${code}: ${message}`);
    const parts = [
      `server ${became(server)}`,
      `worker ${became(worker)}`,
      ...(gateway === false ? [] : [`page ${became(gateway)}`]),
      ...(options.sessions ? [`${counted(ended.length, 'session')} ended`] : []),
      ...remaining(left, options.sessions ?? false),
    ];
    process.stdout.write(`${parts.join(', ')}\n`);
  }
  return faults[0]?.exitCode ?? 0;
}

/** @param stopped null if that is not known: the step failed */
const became = (stopped: boolean | null): string =>
  stopped === null ? 'unknown' : stopped ? 'stopped' : 'was not running';

function remaining(left: number | null, areEnded: boolean): string[] {
  if (left === null) return ['open sessions unknown'];
  if (areEnded) return left > 0 ? [`${left} still running`] : [];
  return [counted(left, 'session lives on', 'sessions live on')];
}

/** Throws `deadline` if even the kernel does not end them. */
async function closed(dataDir: string): Promise<ClosedSession[]> {
  const host = sessionHost(dataDir);
  const over = new AbortController();
  try {
    return await Promise.race([
      host.closeAll(REASON),
      delay(SESSIONS_MS, undefined, { signal: over.signal }).then(() => {
        throw new HoldfastError('deadline', { what: 'The end of the sessions', waitedMs: SESSIONS_MS });
      }),
    ]);
  } finally {
    over.abort();
    host.detach();
  }
}

const sessionHost = (dataDir: string): SessionHost =>
  new SessionHost({ dataDir, cwd: '/', env: {}, treeKill: detectTreeKill() });

function openSessions(dataDir: string): number {
  const host = sessionHost(dataDir);
  return host.list().filter((ref) => host.isOpen(ref)).length;
}
