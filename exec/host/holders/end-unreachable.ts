// Ends a session whose holder does not answer, and what has outlived one that was killed, by what the host itself knows about its processes: ids,
// start times, pid namespace, and the mark in their environment.
import { setTimeout as delay } from 'node:timers/promises';
import type { KilledBy, TreeKill } from '../../../contracts/sessions/session';
import { CommandRecords } from '../../command-records';
import { settled } from './dead-session';
import { killTree } from '../../processes/process-tree';
import { readJson, removeQuietly, writeJson } from '../../../system/json-file';
import {
  childrenOf,
  descendantsOf,
  listNumeric,
  processStat,
  readText,
} from '../../../system/processes/proc';
import {
  identitiesOf,
  isAlive,
  isOfThisBoot,
  type Identity,
} from '../../../system/processes/process-identity';
import type { SessionPaths } from '../../session-paths';
import type { HolderConfig } from '../../holder-config';
import { readTree, type TreeRecord } from '../../tree-record';

const STOPPED_MS = 500;
const GONE_MS = 2_000;
const POLL_MS = 5;
const KEPT_RESETS = 100;
const MARK = /(?:^|\0)(HOLDFAST_SESSION_MARK=[0-9a-f]+)/;

/**
 * Kills the session's processes and its holder, and settles its command as lost, by `killedBy`. The log stays as it is.
 * Returns the processes that still run.
 */
export async function endUnreachable(
  paths: SessionPaths,
  identity: Identity,
  killedBy: KilledBy,
): Promise<Identity[]> {
  // A holder that wakes up meanwhile would report the end in its own words.
  await stop(identity);
  const left = await endTree(paths, identity);
  // Before the holder is gone: afterwards others would settle the command as lost without a reason.
  if (isAlive(identity)) settle(paths, killedBy);
  const helpers = identitiesOf(descendantsOf(identity.pid));
  if (isAlive(identity)) send(identity, 'SIGKILL');
  for (const helper of helpers) send(helper, 'SIGKILL');
  await gone([identity, ...helpers]);
  const { socketPath } = readJson<HolderConfig>(paths.config) ?? {};
  for (const path of [paths.holder, paths.process, paths.tree, socketPath]) if (path) removeQuietly(path);
  return [identity, ...helpers, ...identitiesOf(left)].filter(isAlive);
}

/**
 * Ends what has outlived the session's killed holder: without a namespace, programs in the background.
 * Returns the processes that still run.
 */
export async function endLeftOver(paths: SessionPaths): Promise<number[]> {
  const tree = leftOverTree(paths);
  if (!tree) return [];
  const { treeKill = 'process-search' } = readJson<HolderConfig>(paths.config) ?? {};
  const left = await endRecorded(treeKill, tree);
  // A new holder may have opened another shell meanwhile.
  if (left.length === 0 && readTree(paths)?.mark === tree.mark) removeQuietly(paths.tree);
  return left;
}

/** Whether something may have outlived the session's killed holder. `marks`: of all processes. */
export const hasLeftOver = (paths: SessionPaths, marks: ReadonlySet<string>): boolean =>
  marks.has(leftOverTree(paths)?.mark ?? '');

/** The marks of sessions that any process has in its environment. */
export const runningMarks = (): Set<string> =>
  new Set(listNumeric('/proc').flatMap((pid) => markOf(pid) ?? []));

function leftOverTree(paths: SessionPaths): TreeRecord | undefined {
  const tree = readTree(paths);
  // The mark alone would also find the processes of the folder that this one was copied from.
  if (!tree || !isOfThisBoot(tree.leader)) return undefined;
  return tree.holder && isAlive(tree.holder) ? undefined : tree;
}

/** Whether the host itself has already carried out this reset. */
export const wasReset = (paths: SessionPaths, id: string): boolean =>
  (readJson<string[]>(paths.resets) ?? []).includes(id);

export function rememberReset(paths: SessionPaths, id: string): void {
  try {
    const before = readJson<string[]>(paths.resets) ?? [];
    writeJson(paths.resets, [...before, id].slice(-KEPT_RESETS));
  } catch {
    // The reset is done. Repeated, it would end later commands, but those need the same disk first.
  }
}

function settle(paths: SessionPaths, killedBy: KilledBy): void {
  const latest = new CommandRecords(paths.commands).latest();
  if (latest) settled(paths, latest, killedBy);
}

async function stop(holder: Identity): Promise<void> {
  send(holder, 'SIGSTOP');
  for (
    const until = performance.now() + STOPPED_MS;
    isAlive(holder) && performance.now() < until;
    await delay(POLL_MS)
  )
    if (/^[tTD]$/.test(processStat(holder.pid)?.state ?? '')) return;
}

/** The recorded processes, and all children of the holder. */
async function endTree(paths: SessionPaths, holder: Identity): Promise<number[]> {
  const { treeKill = 'process-search' } = readJson<HolderConfig>(paths.config) ?? {};
  const recorded = readTree(paths);
  // Without a record: the folder is also part of the shell's command line.
  const ownShell = recorded?.ownShell ?? paths.directory;
  const left: number[] = [];
  for (const leader of isAlive(holder) ? childrenOf(holder.pid) : []) {
    const mark = markOf(leader);
    if (mark !== undefined) left.push(...(await killTree({ kind: treeKill, leader, mark, ownShell })));
  }
  if (recorded) left.push(...(await endRecorded(treeKill, recorded)));
  return left;
}

const markOf = (pid: number): string | undefined => MARK.exec(readText(`/proc/${pid}/environ`) ?? '')?.[1];

/** If the leader is gone, the mark finds the others. */
const endRecorded = (kind: TreeKill, { leader, mark, ownShell }: TreeRecord): Promise<number[]> =>
  killTree({ kind, leader: isAlive(leader) ? leader.pid : undefined, mark, ownShell });

function send(identity: Identity, signal: NodeJS.Signals): void {
  try {
    if (isAlive(identity)) process.kill(identity.pid, signal);
  } catch {
    // Already gone, or not ours: survivors are reported.
  }
}

async function gone(processes: readonly Identity[]): Promise<void> {
  const until = performance.now() + GONE_MS;
  while (processes.some(isAlive) && performance.now() < until) await delay(POLL_MS);
}
