// Ends everything that runs in a session: a clean end for those that have one, then KILL that nothing outlives.
// With a PID namespace the kernel does the last step; without one it is a search of the process table.
import type { TreeKill } from '../../contracts/session';
import { spawnSync } from 'node:child_process';
import { systemProgram } from '../trusted-program';
import { childrenOf, descendantsOf, isRunning, listNumeric, processStat, readLink, readText } from '../proc';
import { endCleanly, stopped } from './clean-end';
import { gone, killAll, signal } from './signals';

const AGAIN_MS = 400;
const GONE_MS = 2_000;

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

export interface Tree {
  kind: TreeKill;
  /** Process id of the terminal's leader. */
  leader: number;
  /** A text in the environment of everything that the session started. */
  mark: string;
  /** A text in the command line of the session's own shell and its copies, and in no other. */
  ownShell: string;
}

/**
 * Ends the tree of a terminal and waits until nothing of it runs. Nothing of the session's code begins meanwhile.
 * @returns the processes that still run after two seconds: none with a namespace. Without one, those that were found
 * but are another user's by now; what gave up every trace of the session is neither found nor told.
 */
export async function killTree(tree: Tree): Promise<number[]> {
  return tree.kind === 'process-search' ? killFound(tree) : killNamespace(tree);
}

async function killFound({ leader, mark, ownShell }: Tree): Promise<number[]> {
  const tty = readLink(`/proc/${leader}/fd/0`);
  const strangers = new Set<number>();
  const find = (): number[] => bySearch({ leader, mark, tty, strangers }).filter(isRunning);
  await endCleanly({ find, isOwnShell: isShellOf(ownShell) });
  let left = find();
  // Again and again: what forks while it is searched for leaves its children to the next search.
  for (const until = Date.now() + GONE_MS; left.length > 0 && Date.now() < until;) {
    killAll(left);
    await gone(left, AGAIN_MS);
    left = find();
  }
  // Last, because while it lives no other session can be given its terminal's name. Its end hangs up the terminal,
  // which ends others' processes too unless they ignore that.
  signal(leader, 'SIGKILL');
  await gone([leader], GONE_MS);
  return gone([leader, ...left], AGAIN_MS);
}

async function killNamespace({ leader, ownShell }: Tree): Promise<number[]> {
  const [init] = childrenOf(leader);
  // Init is left running: it takes the orphans in, and has nothing to run.
  const find = (): number[] => byNamespace(leader).filter((pid) => pid !== init && isRunning(pid));
  await endCleanly({ find, isOwnShell: isShellOf(ownShell) });
  // Stopped first: it may be just starting, and ties its child to itself only after the fork. A child of the moment
  // between would outlive it.
  signal(leader, 'SIGSTOP');
  await stopped([leader]);
  const members = byNamespace(leader);
  for (const pid of [...childrenOf(leader), leader]) signal(pid, 'SIGKILL');
  return gone([leader, ...members], GONE_MS);
}

const isShellOf =
  (ownShell: string) =>
  (pid: number): boolean =>
    readText(`/proc/${pid}/cmdline`)?.includes(ownShell) ?? false;

function byNamespace(leader: number): number[] {
  const init = childrenOf(leader)[0];
  const namespace = init === undefined ? undefined : readLink(`/proc/${init}/ns/pid`);
  if (namespace === undefined) return [];
  const mine = new Set(descendantsOf(leader));
  const others = listNumeric('/proc').filter((pid) => !mine.has(pid));
  return [...mine, ...others.filter((pid) => readLink(`/proc/${pid}/ns/pid`) === namespace)];
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
  const others = listNumeric('/proc').filter((pid) => !mine.has(pid));
  return [...mine, ...others].filter((pid) => {
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
