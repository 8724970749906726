// Detects from the operating system's state whether the foreground of a terminal waits for typing: each thread's
// current system call (proc(5), /proc/PID/task/TID/syscall) and the file it reads or polls.
import { closeSync, openSync, readSync } from 'node:fs';
import { descendantsOf, listNumeric, processStat, readLink, readText } from '../../../system/processes/proc';
import type { WaitingCertainty } from '../../../contracts/sessions/session';

type Call = 'read' | 'poll' | 'select' | 'epoll';

/** Linux system call numbers: arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h. */
const CALLS: Record<string, Record<number, Call>> = {
  x64: {
    0: 'read',
    19: 'read',
    7: 'poll',
    271: 'poll',
    23: 'select',
    270: 'select',
    232: 'epoll',
    281: 'epoll',
    441: 'epoll',
  },
  arm64: { 63: 'read', 65: 'read', 73: 'poll', 72: 'select', 22: 'epoll', 441: 'epoll' },
};

export interface WaitingSample {
  certainty: WaitingCertainty;
  /** Changes when any waiting thread has run in between: two equal samples mean a steady wait. */
  fingerprint: string;
  /** It blocks in a read of the terminal, and nothing else is in the foreground: no other thread and no other process. */
  isAlone: boolean;
}

/**
 * Looks at every thread of the terminal's foreground process group.
 * @param leader the terminal's first process
 * @param tty path of the terminal's device
 */
export function sampleWaiting(leader: number, tty: string): WaitingSample | undefined {
  const group = processStat(leader)?.foregroundGroup;
  if (group === undefined || group <= 0) return undefined;
  const found: { certainty: WaitingCertainty; thread: string }[] = [];
  let threads = 0;
  for (const pid of [leader, ...descendantsOf(leader)]) {
    if (processStat(pid)?.group !== group) continue;
    for (const tid of listNumeric(`/proc/${pid}/task`)) {
      threads += 1;
      const certainty = threadWaits(pid, tid, tty);
      if (certainty) found.push({ certainty, thread: `${tid}:${switches(pid, tid)}` });
    }
  }
  if (found.length === 0) return undefined;
  const certainty = (['certain', 'likely', 'hint'] as const).find((c) =>
    found.some((f) => f.certainty === c),
  );
  return {
    certainty: certainty ?? 'hint',
    fingerprint: `${certainty} ${found.map((f) => f.thread).join(' ')}`,
    isAlone: certainty === 'certain' && threads === 1,
  };
}

function threadWaits(pid: number, tid: number, tty: string): WaitingCertainty | undefined {
  const [number, ...hex] = (readText(`/proc/${pid}/task/${tid}/syscall`) ?? '').trim().split(' ');
  const call = CALLS[process.arch]?.[Number(number)];
  if (!call) return undefined;
  const args = hex.slice(0, 6).map((h) => BigInt(h));
  const isTty = (fd: number): boolean => {
    const path = readLink(`/proc/${pid}/fd/${fd}`);
    // The last is the terminal's name in a sandbox, where the usual names belong to other terminals.
    return path === tty || path === '/dev/tty' || path === '/dev/console';
  };
  switch (call) {
    case 'read':
      return isTty(Number(args[0])) ? 'certain' : undefined;
    case 'poll':
      return pollFds(pid, args).some(isTty) ? timed(call, Number(number), args) : undefined;
    case 'select':
      return selectFds(pid, args).some(isTty) ? timed(call, Number(number), args) : undefined;
    case 'epoll':
      return epollFds(pid, Number(args[0])).some(isTty) ? timed(call, Number(number), args) : undefined;
  }
}

/** V8 has a timer of its own in about one of twenty loaded Node programs, due in 8 s, whatever the program does. */
const LONG_TIMER_MS = 5_000;

/**
 * A poll without a timeout is probably a prompt; one that wakes up by itself may be anything. An event loop wakes up for
 * its next timer, which has nothing to do with the terminal: only one that ticks, as a progress display does, says
 * something.
 */
function timed(call: Call, number: number, args: bigint[]): WaitingCertainty {
  const timeout = (value: bigint | undefined): bigint => BigInt.asIntN(32, value ?? 0n);
  if (call === 'select') return args[4] === 0n ? 'likely' : 'hint';
  if (call === 'poll') return (number === 7 ? timeout(args[2]) < 0n : args[2] === 0n) ? 'likely' : 'hint';
  // The newest form has a pointer in place of milliseconds.
  if (number === 441) return args[3] === 0n ? 'likely' : 'hint';
  const ms = timeout(args[3]);
  return ms < 0n || ms >= LONG_TIMER_MS ? 'likely' : 'hint';
}

const POLLIN = 1;

/** struct pollfd { int fd; short events; short revents; } */
function pollFds(pid: number, [address, count]: bigint[]): number[] {
  const data = readMemory(pid, address, Math.min(Number(count), 1024) * 8);
  const fds: number[] = [];
  for (let at = 0; at + 8 <= data.length; at += 8) {
    if (data.readInt16LE(at + 4) & POLLIN) fds.push(data.readInt32LE(at));
  }
  return fds;
}

/** fd_set: one bit per descriptor, in the set of descriptors to read from. */
function selectFds(pid: number, [count, address]: bigint[]): number[] {
  if (!address) return [];
  const fds: number[] = [];
  const limit = Math.min(Number(count), 1024);
  const data = readMemory(pid, address, Math.ceil(limit / 8));
  for (let fd = 0; fd < limit; fd++) if (((data[fd >> 3] ?? 0) >> (fd & 7)) & 1) fds.push(fd);
  return fds;
}

/** The `tfd:` lines in an epoll descriptor's fdinfo name the descriptors that it watches. */
function epollFds(pid: number, epoll: number): number[] {
  const lines = (readText(`/proc/${pid}/fdinfo/${epoll}`) ?? '').split('\n');
  return lines.flatMap((line) => {
    const match = /^tfd:\s+(\d+)\s+events:\s+([0-9a-f]+)/.exec(line);
    return match && parseInt(match[2] ?? '0', 16) & POLLIN ? [Number(match[1])] : [];
  });
}

function readMemory(pid: number, address: bigint | undefined, length: number): Buffer {
  if (!address || length <= 0) return Buffer.alloc(0);
  const data = Buffer.alloc(length);
  try {
    const fd = openSync(`/proc/${pid}/mem`, 'r');
    try {
      return data.subarray(0, readSync(fd, data, 0, length, address as unknown as number));
    } finally {
      closeSync(fd);
    }
  } catch {
    return Buffer.alloc(0);
  }
}

function switches(pid: number, tid: number): string {
  return (
    /^voluntary_ctxt_switches:\s+(\d+)/m.exec(readText(`/proc/${pid}/task/${tid}/status`) ?? '')?.[1] ?? ''
  );
}
