// Ends everything that runs in a session: TERM for a clean end, then KILL that nothing outlives.
// With a PID namespace the kernel does the last step; without one it is a search of the process table.
import type { TreeKill } from '../../contracts/session';
import { spawnSync } from 'node:child_process';
import { systemProgram } from '../trusted-program';
import { childrenOf, descendantsOf, isRunning, listNumeric, processStat, readLink, readText } from '../proc';

const GRACE_MS = 400;
const GONE_MS = 2_000;
const POLL_MS = 5;

const NAMESPACE_FLAGS = ['--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc'];
const COMMANDS: Record<TreeKill, string[]> = {
  'pid-namespace': ['unshare', ...NAMESPACE_FLAGS, '--'],
  'user-pid-namespace': ['unshare', '--user', '--map-current-user', ...NAMESPACE_FLAGS, '--'],
  'process-search': [],
};

/** The command line to put before a session's first process. */
export function treeCommand(kind: TreeKill): string[] {
  const [program, ...args] = COMMANDS[kind];
  return program === undefined ? [] : [systemProgram(program), ...args];
}

/** Finds out by trying: containers and distributions refuse namespaces in many ways. Costs about 5 ms. */
export function detectTreeKill(): TreeKill {
  for (const kind of ['pid-namespace', 'user-pid-namespace'] as const) {
    const [program, ...args] = treeCommand(kind);
    if (program && spawnSync(program, [...args, 'true'], { stdio: 'ignore', timeout: 5_000 }).status === 0)
      return kind;
  }
  return 'process-search';
}

/**
 * Ends the tree of the terminal whose leader is `leader` and waits until nothing of it runs.
 * `mark` is a text in the environment of everything the session started.
 * @returns the processes that still run after two seconds: none with a namespace. Without one, those that were found
 * but are another user's by now; what gave up every trace of the session is neither found nor told.
 */
export async function killTree(kind: TreeKill, leader: number, mark: string): Promise<number[]> {
  if (kind !== 'process-search') return killNamespace(kind, leader);
  const tty = readLink(`/proc/${leader}/fd/0`);
  const strangers = new Set<number>();
  const find = (): number[] => bySearch({ leader, mark, tty, strangers }).filter(isRunning);
  await terminate(find(), [leader, ...shellsOf(leader, kind)]);
  let left = find();
  // Again and again: what forks while it is searched for leaves its children to the next search.
  for (const until = Date.now() + GONE_MS; left.length > 0 && Date.now() < until;) {
    for (const pid of left) signal(pid, 'SIGKILL');
    await gone(left, GRACE_MS);
    left = find();
  }
  // Last, because while it lives no other session can be given its terminal's name. Its end hangs up the terminal,
  // which ends others' processes too unless they ignore that.
  signal(leader, 'SIGKILL');
  await gone([leader], GONE_MS);
  return gone([leader, ...left], GRACE_MS);
}

async function killNamespace(kind: TreeKill, leader: number): Promise<number[]> {
  await terminate(byNamespace(leader), [leader, ...shellsOf(leader, kind)]);
  // Stopped first: it may be just starting, and ties its child to itself only after the fork. A child of the moment
  // between would outlive it.
  signal(leader, 'SIGSTOP');
  await stopped(leader);
  const members = byNamespace(leader);
  for (const pid of [...childrenOf(leader), leader]) signal(pid, 'SIGKILL');
  return gone([leader, ...members], GONE_MS);
}

async function stopped(pid: number): Promise<void> {
  const until = Date.now() + GRACE_MS;
  while (isRunning(pid) && !/^[tT]$/.test(processStat(pid)?.state ?? '') && Date.now() < until)
    await new Promise((resolve) => setImmediate(resolve));
}

/** Asks the programs, but not the shell, to end, and gives them time to. */
async function terminate(members: number[], shell: number[]): Promise<void> {
  const programs = members.filter((pid) => !shell.includes(pid));
  for (const pid of programs) signal(pid, 'SIGTERM');
  if (programs.length > 0) await gone(programs, GRACE_MS);
}

/** The processes that make up the shell itself: init and bash ignore TERM, so nobody waits for them. */
function shellsOf(leader: number, kind: TreeKill): number[] {
  const init = kind === 'process-search' ? leader : childrenOf(leader)[0];
  return init === undefined ? [] : [init, ...childrenOf(init)];
}

function byNamespace(leader: number): number[] {
  const init = childrenOf(leader)[0];
  const namespace = init === undefined ? undefined : readLink(`/proc/${init}/ns/pid`);
  if (namespace === undefined) return [];
  const mine = new Set(descendantsOf(leader));
  return listNumeric('/proc').filter((pid) => mine.has(pid) || readLink(`/proc/${pid}/ns/pid`) === namespace);
}

interface Traces {
  leader: number;
  mark: string;
  tty: string | undefined;
  /** Processes that were looked at before and are not ours: a search again must outrun what forks. */
  strangers: Set<number>;
}

/** By parentage, session, environment and open terminal: a process has to give up all four to be missed. */
function bySearch({ leader, mark, tty, strangers }: Traces): number[] {
  const mine = new Set(descendantsOf(leader));
  return listNumeric('/proc').filter((pid) => {
    if (pid === leader || pid === process.pid || strangers.has(pid)) return false;
    const isOurs =
      mine.has(pid) ||
      processStat(pid)?.session === leader ||
      readText(`/proc/${pid}/environ`)?.includes(mark) ||
      (tty !== undefined && hasOpen(pid, tty));
    if (!isOurs) strangers.add(pid);
    return isOurs;
  });
}

const hasOpen = (pid: number, path: string): boolean =>
  listNumeric(`/proc/${pid}/fd`).some((fd) => readLink(`/proc/${pid}/fd/${fd}`) === path);

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Already gone, or not ours to signal: `gone` tells which.
  }
}

async function gone(pids: number[], withinMs: number): Promise<number[]> {
  const until = Date.now() + withinMs;
  let left = pids.filter(isRunning);
  while (left.length > 0 && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    left = left.filter(isRunning);
  }
  return left;
}
