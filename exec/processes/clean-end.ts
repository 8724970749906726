// Lets the programs of a tree end cleanly without letting any more of the session's code start. A shell runs its next
// command as soon as the current one has ended, and so does every program that starts others in sequence: so the whole
// tree is stopped first, and only programs that will then end are continued.
import { listNumeric, livingStat, readText } from '../../system/processes/proc';
import { gone, killAll, signal } from './signals';

/** How long programs have to end cleanly. */
const GRACE_MS = 1_000;
/** A tree that forks constantly is stopped in a few rounds; this bounds the effort for one that cannot be. */
const FREEZE_MS = 2_000;
/** A process that does not stop by then is blocked in the kernel, and stops before it runs any of its own code. */
const STOP_MS = 400;
const LOOK_MS = 1;
/** Bit of SIGTERM (15) in the masks of /proc/PID/status. */
const TERM = 1n << 14n;

interface Tree {
  /** Everything in the tree but its init, nearest first. */
  find: () => number[];
  /** Whether a process is the session's own shell or a copy of it. */
  isOwnShell: (pid: number) => boolean;
}

/**
 * Stops everything, then:
 * - the session's own shell and its subshells stay stopped: they would run the rest of the code, and its traps;
 * - processes that ignore TERM, or block it without a handler, would simply continue, so they are killed at once;
 * - all others are sent TERM before the first of them is continued. One without a handler dies before it runs another
 * instruction, whichever of its children ended before; one with a handler runs that.
 */
export async function endCleanly({ find, isOwnShell }: Tree): Promise<void> {
  const programs = (await freeze(find)).filter((pid) => !isOwnShell(pid));
  const hearing = programs.filter(hearsTerm);
  for (const pid of hearing) signal(pid, 'SIGTERM');
  killAll(programs.filter((pid) => !hearing.includes(pid)));
  for (const pid of hearing) signal(pid, 'SIGCONT');
  await gone(hearing, GRACE_MS);
}

/** Stops what `find` returns until it finds nothing new, and returns all of it. */
async function freeze(find: () => number[]): Promise<number[]> {
  const seen = new Set<number>();
  for (const until = performance.now() + FREEZE_MS; performance.now() < until;) {
    const fresh = find().filter((pid) => !seen.has(pid));
    if (fresh.length === 0) break;
    for (const pid of fresh) seen.add(pid);
    await stopped(fresh.filter((pid) => signal(pid, 'SIGSTOP')));
  }
  return [...seen];
}

/** Waits until none of them runs its own code. */
export async function stopped(pids: number[]): Promise<void> {
  const until = performance.now() + STOP_MS;
  for (let left = pids; left.length > 0 && performance.now() < until;) {
    left = left.filter((pid) => /^[RS]$/.test(livingStat(pid)?.state ?? ''));
    // No busy loop: on a busy machine it takes the time that the process needs to come to its stop.
    if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/**
 * Whether TERM ends it or has a handler: it is not ignored, and not blocked in every thread. A handler hears it also when it
 * is blocked at the moment: bash blocks it while it forks. One that goes on has a second, as one with a deaf handler.
 */
function hearsTerm(pid: number): boolean {
  const masks = listNumeric(`/proc/${pid}/task`).map(
    (thread) => readText(`/proc/${pid}/task/${thread}/status`) ?? '',
  );
  return masks.some((status) => !has(status, 'SigIgn') && (!has(status, 'SigBlk') || has(status, 'SigCgt')));
}

const has = (status: string, mask: string): boolean =>
  (BigInt(`0x${new RegExp(`^${mask}:\\s*([0-9a-f]+)$`, 'm').exec(status)?.[1] ?? 'ffffffffffffffff'}`) &
    TERM) !==
  0n;
