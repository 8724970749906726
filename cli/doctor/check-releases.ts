// `holdfast doctor` on what is of another release or build than this one: terminals, hosts, workers of the task queue.
import type { HoldfastClient } from '../../client/holdfast-client';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import type { HostState } from '../../contracts/schemas/remote-hosts';
import { HOST_PROTOCOL } from '../../contracts/sessions/remote-hosts';
import { HolderConnections } from '../../exec/client/holder-connections';
import type { HolderRecord } from '../../exec/client/holder-client';
import { PROTOCOL_VERSION } from '../../exec/protocol';
import { listSessions } from '../../exec/session-paths';
import { isOwnRelease, packageVersion } from '../../system/package-root';
import { polledQueue, type PolledQueue } from '../../workers/agents/agents-pollers';
import { releaseText } from '../../workers/process/worker-record';

interface Found {
  status: 'ok' | 'warn' | 'fail';
  found: string;
  next?: string;
}

/** The open terminals of this machine, by the release that opened them. */
export function checkTerminalReleases(dataDir: string): Found {
  const connections = new HolderConnections(dataDir);
  const open = listSessions(dataDir).flatMap((ref) => {
    const record = connections.holderOf(ref);
    return record ? [{ ref, record }] : [];
  });
  const others = open.filter(({ record }) => !isOwnRelease(record.release));
  if (others.length === 0) return { status: 'ok', found: `${open.length} open, all of this release` };
  const found = `${others.length} of ${open.length} open are of other releases: ${countedBy(others.map(({ record }) => releaseText(record.release)))}`;
  const foreign = others.find(({ record }) => isForeign(record));
  if (foreign)
    return {
      status: 'fail',
      found: `${found}; session ${foreign.ref.session} of ${foreign.ref.agent} speaks protocol ${foreign.record.version}, this release ${PROTOCOL_VERSION}`,
      next: `run the worker of release ${releaseText(foreign.record.release)} until that session is closed`,
    };
  return {
    status: 'ok',
    found,
    next: 'nothing is needed: they go on. `holdfast close` ends a session, and its next one is of this release',
  };
}

const isForeign = ({ version }: HolderRecord): boolean => version > PROTOCOL_VERSION;

/** Machines that have announced themselves. */
export function checkHostReleases(hosts: readonly HostState[]): Found | undefined {
  const known = hosts.flatMap(({ host, status, facts }) =>
    status === 'online' && facts ? [{ host, ...facts }] : [],
  );
  if (known.length === 0) return undefined;
  const own = packageVersion();
  const texts = known.map(({ host, version }) => `${host} ${version}`).join(', ');
  const found = `online: ${texts}; this release is ${own}`;
  const foreign = known.find(({ protocol }) => protocol !== HOST_PROTOCOL);
  if (foreign)
    return {
      status: 'fail',
      found: `${found}; ${foreign.host} speaks protocol ${foreign.protocol}, this release ${HOST_PROTOCOL}`,
      next: `install the same release on ${foreign.host} and here`,
    };
  const other = known.find(({ version }) => version !== own);
  if (!other) return { status: 'ok', found };
  const next = `install release ${own} on ${other.host}, then \`holdfast host serve ${other.host}\`; what runs there goes on`;
  return { status: 'warn', found, next };
}

/** Workers of the agents' task queue, on any machine. Undefined if none has polled lately. */
async function checkBuilds({ temporal, server }: HoldfastClient): Promise<Found | undefined> {
  return buildsOf(await polledQueue(temporal, server.queue));
}

export function buildsOf({ others: workers, currentBuild }: PolledQueue): Found | undefined {
  if (workers.length === 0) return undefined;
  const texts = countedBy(workers.map(({ buildId }) => buildId ?? 'no build'));
  const found = `${texts}; current is ${currentBuild ?? 'no build'}`;
  if (!workers.some(({ buildId }) => buildId === currentBuild))
    return {
      status: 'fail',
      found: `${found}, of which no worker polls: workflows wait`,
      next: currentBuild
        ? 'start a worker of the current build; one of another build takes over within two minutes, one without a build never (docs/upgrading.md)'
        : 'wait a moment: a worker with a build makes itself current',
    };
  if (workers.every(({ buildId }) => buildId === currentBuild)) return { status: 'ok', found };
  const next =
    'an upgrade is under way: `holdfast up` with the newer release where a worker of another build runs';
  return { status: 'warn', found, next };
}

async function hostsOf({ hosts }: HoldfastClient): Promise<Found | undefined> {
  try {
    const { hosts: answering, unanswered } = await hosts.listAnswering();
    const releases = checkHostReleases(answering);
    if (unanswered.length === 0) return releases;
    const found = `${releases ? `${releases.found}; ` : ''}not known, because they do not answer: ${unanswered.join(', ')}`;
    const status = releases?.status === 'fail' ? 'fail' : 'warn';
    return { status, found, next: releases?.next ?? NEXT_FOR_SILENT };
  } catch (err) {
    return { status: 'warn', found: `not known: ${reasonOf(err)}`, next: NEXT_FOR_SILENT };
  }
}

const NEXT_FOR_SILENT = '`holdfast host show NAME` says what is wrong with one';

/** What only the server knows: nothing while it cannot be reached, which another check reports. */
export async function checkServerReleases(
  connect: () => Promise<HoldfastClient>,
): Promise<{ builds?: Found | undefined; hosts?: Found | undefined }> {
  try {
    const client = await connect();
    try {
      const builds = await checkBuilds(client);
      // Only workflows know the hosts.
      const isServed = builds !== undefined && builds.status !== 'fail';
      return { builds, hosts: isServed ? await hostsOf(client) : undefined };
    } finally {
      await client.close();
    }
  } catch {
    return {};
  }
}

/** `2 of A, 1 of B`. */
function countedBy(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => `${count} of ${text}`).join(', ');
}
