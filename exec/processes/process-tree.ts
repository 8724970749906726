// Ends everything that runs in a session: a clean end for programs that support it, then KILL, which nothing survives.
// With a PID namespace the kernel does the last step; without one it is a search of the process table.
import type { TreeKill } from '../../contracts/sessions/session';
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { systemProgram } from '../trusted-program';
import {
  childrenOf,
  descendantsOf,
  isRunning,
  listNumeric,
  processStat,
  readLink,
  readText,
} from '../../system/processes/proc';
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

let tie: string[] | undefined;

/**
 * The command line to put before the session's own shell. When its holder is killed, the kernel hangs up the program that
 * runs, and the shell would go on with the rest of its code: it is killed with the terminal's first process instead. With
 * a namespace the kernel kills all that is in it, if a moment later. Empty where it cannot be done, as on macOS.
 */
export function shellCommand(kind: TreeKill): string[] {
  return kind === 'process-search' ? (tie ??= findTie()) : [];
}

function findTie(): string[] {
  const program = systemProgram('setpriv');
  const args = ['--pdeathsig', 'KILL', '--'];
  return succeeds(program, [...args, 'true']) ? [program, ...args] : [];
}

const succeeds = (program: string, args: string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore', timeout: 5_000 }).status === 0;

/** Tries it out: containers and distributions refuse namespaces in many ways. Costs about 5 ms. */
export function detectTreeKill(): TreeKill {
  for (const kind of ['pid-namespace', 'user-pid-namespace'] as const) {
    const [program, ...args] = treeCommand(kind);
    if (program && succeeds(program, [...args, 'true'])) return kind;
  }
  return 'process-search';
}

export interface Tree {
  kind: TreeKill;
  /** Process id of the terminal's leader; undefined if that is gone: its number may belong to another process. */
  leader: number | undefined;
  /** A link in /proc to the terminal, open in some process. By default the leader's. */
  terminal?: string | undefined;
  /** A text in the environment of everything that the session started. */
  mark: string;
  /** A text that occurs only in the command line of the session's own shell and its copies. */
  ownShell: string;
}

/**
 * Ends the tree of a terminal and waits until nothing of it runs. None of the session's code starts meanwhile.
 * @returns the processes that still run after two seconds: none with a namespace. Without one, those that were found
 * but now belong to another user; a process that removed every trace of the session is neither found nor reported.
 */
export async function killTree(tree: Tree): Promise<number[]> {
  if (tree.kind === 'process-search') return killFound(tree);
  // The kernel ends the namespace with its leader.
  return tree.leader === undefined ? [] : killNamespace(tree.leader, tree.ownShell);
}

async function killFound({
  leader,
  mark,
  ownShell,
  terminal = `/proc/${leader}/fd/0`,
}: Tree): Promise<number[]> {
  const tty = openFile(terminal);
  // The holder has the terminal open, and does not belong to the session.
  const strangers = new Set<number>(leader === undefined ? [] : [processStat(leader)?.parent ?? leader]);
  const find = (): number[] => bySearch({ leader, mark, tty, strangers }).filter(isRunning);
  await endCleanly({ find, isOwnShell: isShellOf(ownShell) });
  let left = find();
  // Repeatedly: a process that forks during the search leaves its children to the next search.
  for (const until = performance.now() + GONE_MS; left.length > 0 && performance.now() < until;) {
    killAll(left);
    await gone(left, AGAIN_MS);
    left = find();
  }
  if (leader === undefined) return gone(left, AGAIN_MS);
  // Last, because while it lives no other session can be given its terminal's name. Its end hangs up the terminal,
  // which also ends other users' processes unless they ignore that.
  signal(leader, 'SIGKILL');
  await gone([leader], GONE_MS);
  return gone([leader, ...left], AGAIN_MS);
}

/**
 * By parentage alone: init adopts all orphans of the namespace, and the kernel ends init only when nothing else is left
 * in it. To look at all of the machine's processes cost each session's end more the more sessions there were.
 */
async function killNamespace(leader: number, ownShell: string): Promise<number[]> {
  const [init] = childrenOf(leader);
  // Init keeps running: it adopts the orphans, and runs nothing itself.
  const find = (): number[] => descendantsOf(leader).filter((pid) => pid !== init && isRunning(pid));
  await endCleanly({ find, isOwnShell: isShellOf(ownShell) });
  // Stopped first: it may be just starting, and ties its child to itself only after the fork. A child created in
  // between would survive it.
  signal(leader, 'SIGSTOP');
  await stopped([leader]);
  const members = descendantsOf(leader);
  for (const pid of [...childrenOf(leader), leader]) signal(pid, 'SIGKILL');
  return gone([leader, ...members], GONE_MS);
}

const isShellOf =
  (ownShell: string) =>
  (pid: number): boolean =>
    readText(`/proc/${pid}/cmdline`)?.includes(ownShell) ?? false;

/** A file that a process has open: containers have terminals of the same name, so the name alone says nothing. */
interface OpenFile {
  name: string;
  device: number;
  inode: number;
}

interface Traces {
  leader: number | undefined;
  mark: string;
  tty: OpenFile | undefined;
  /** Processes already examined that are not ours: a repeated search must be faster than forks. */
  strangers: Set<number>;
}

/** By parentage, session, environment and open terminal: to be missed, a process has to shed all four. */
function bySearch({ leader, mark, tty, strangers }: Traces): number[] {
  const mine = new Set(leader === undefined ? [] : descendantsOf(leader));
  const others = listNumeric('/proc').filter((pid) => !mine.has(pid));
  return [...mine, ...others].filter((pid) => {
    if (pid === leader || pid === process.pid || strangers.has(pid)) return false;
    const isOurs =
      mine.has(pid) ||
      (leader !== undefined && processStat(pid)?.session === leader) ||
      readText(`/proc/${pid}/environ`)?.includes(mark) ||
      (tty !== undefined && hasOpen(pid, tty));
    if (!isOurs) strangers.add(pid);
    return isOurs;
  });
}

function hasOpen(pid: number, { name, device, inode }: OpenFile): boolean {
  const links = listNumeric(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  return links.some((link) => {
    // The name first: asked of a network file system, for the file itself, it might not answer.
    const found = readLink(link) === name ? openFile(link) : undefined;
    return found?.device === device && found.inode === inode;
  });
}

function openFile(link: string): OpenFile | undefined {
  const name = readLink(link);
  if (name === undefined) return undefined;
  try {
    const { dev, ino } = statSync(link);
    return { name, device: dev, inode: ino };
  } catch {
    return undefined;
  }
}
