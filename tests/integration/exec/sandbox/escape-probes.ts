// Ways out of a sandbox, each as the code that tries it and the fact that shows, from outside, that it worked.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { detectTreeKill } from '../../../../exec/processes/process-tree';
import { isRunning, readText } from '../../../../system/processes/proc';
import type { Outside } from './outside-of-sandbox';

export interface Probe {
  /** What must not be done; as in "does not …". */
  name: string;
  /** Bash, run in the workspace. */
  code: (out: Outside) => string;
  /** Whether it succeeded. `workspace` is that of the session that ran the code. */
  worked: (out: Outside, workspace: string) => boolean;
  before?: (out: Outside, workspace: string) => void;
  /** Only root could do it anyway. */
  asRoot?: true;
  /** Only for another user it would be an escape. */
  asUser?: true;
  /** Whether a user can do it without a sandbox: some kernels refuse it. */
  userCan?: () => boolean;
}

const LEAK = 'leak';
const leaked = (workspace: string): string => readText(join(workspace, LEAK)) ?? '';
/** A program in Python that calls the kernel. */
const python = (code: string): string =>
  `/usr/bin/env python3 - <<'END'\nimport ctypes, fcntl, os, termios\n${code}\nEND`;
const connect = (node: string, to: string): string =>
  `'${node}' -e "require('net').connect(${to}).on('connect', () => process.exit()).on('error', () => process.exit(1))"`;
const hookOf = (workspace: string): string => join(workspace, '.git', 'hooks', 'pre-commit');
const withRepository = (_: Outside, workspace: string): void => {
  mkdirSync(join(workspace, '.git', 'hooks'), { recursive: true });
  writeFileSync(join(workspace, '.git', 'config'), '[core]\n');
  // Any user that the shell may run as.
  for (const name of ['', 'hooks', 'config']) chmodSync(join(workspace, '.git', name), 0o777);
};

/** Yama, if present, lets processes other than parents trace only at 0. */
const canTrace = (): boolean => (readText('/proc/sys/kernel/yama/ptrace_scope') ?? '0').trim() === '0';

const FILES: Probe[] = [
  {
    name: 'write a file of the host',
    code: ({ folder }) => `echo x > ${folder}/written`,
    worked: ({ folder }) => existsSync(join(folder, 'written')),
  },
  {
    name: 'write through a symbolic link',
    code: ({ folder }) => `ln -sfn ${folder} link && echo x > link/linked`,
    worked: ({ folder }) => existsSync(join(folder, 'linked')),
  },
  {
    name: 'write through a hard link',
    code: ({ folder }) => `ln ${folder}/file hard && echo changed > hard`,
    worked: ({ folder }) => readFileSync(join(folder, 'file'), 'utf8') === 'changed\n',
  },
  {
    name: 'write a hook of the repository',
    before: withRepository,
    code: () => `echo 'touch /' > .git/hooks/pre-commit`,
    worked: (_, workspace) => existsSync(hookOf(workspace)),
  },
  {
    name: 'change the configuration of the repository',
    before: withRepository,
    code: () => `echo '[core] fsmonitor = evil' > .git/config`,
    worked: (_, workspace) => readText(join(workspace, '.git', 'config'))?.includes('evil') === true,
  },
  {
    name: 'put another repository in the place of the one that is there',
    before: withRepository,
    code: () => `mv .git elsewhere; mkdir -p .git; echo evil > .git/replaced`,
    worked: (_, workspace) => existsSync(join(workspace, '.git', 'replaced')),
  },
  {
    name: 'lead what its holder writes into a file of the host',
    code: ({ folder }) => `for n in {1..60}; do ln -sf ${folder}/led "$__hf_dir/$n"; done; :`,
    worked: ({ folder }) => existsSync(join(folder, 'led')),
  },
  {
    name: 'read a key of the home folder',
    code: ({ canary }) => `cat ${canary.file} > ${LEAK}`,
    worked: ({ canary }, workspace) => leaked(workspace).includes(canary.text),
  },
  {
    name: 'read the data of Holdfast',
    code: () =>
      `cat "$(dirname "$(dirname "$(dirname "$__hf_dir")")")"/sessions/*/{holder,config}.json > ${LEAK}`,
    worked: (_, workspace) => leaked(workspace).includes('"token"'),
  },
  {
    name: 'make a device',
    code: () => 'mknod disk b 8 0',
    worked: (_, workspace) =>
      lstatSync(join(workspace, 'disk'), { throwIfNoEntry: false })?.isBlockDevice() === true,
    asRoot: true,
  },
  {
    name: 'see a disk',
    code: () => `find /dev -type b > ${LEAK}`,
    worked: (_, workspace) => leaked(workspace) !== '',
  },
];

const NETWORK: Probe[] = [
  {
    name: 'reach a server on this machine, such as the one that takes approvals',
    code: ({ port }) => `exec 3<>/dev/tcp/127.0.0.1/${port} && exec 3>&-`,
    worked: ({ met }) => met('port'),
  },
  {
    name: 'reach a unix socket of the system folders',
    code: ({ node, sockets }) => connect(node, `'${sockets.private}'`),
    worked: ({ met }) => met('private'),
  },
  {
    name: 'reach a unix socket in a folder that it may read',
    code: ({ node, sockets }) => connect(node, `'${sockets.shown}'`),
    worked: ({ met }) => met('shown'),
  },
  {
    name: 'reach an abstract socket',
    code: ({ node, sockets }) => connect(node, `'\\0${sockets.abstract}'`),
    worked: ({ met }) => met('abstract'),
  },
];

const KERNEL: Probe[] = [
  {
    name: 'mount',
    code: ({ folder }) => `mkdir -p mounted; mount --bind ${folder} mounted`,
    worked: (_, workspace) => spawnSync('umount', [join(workspace, 'mounted')]).status === 0,
    asRoot: true,
  },
  {
    name: 'make a user namespace and mount in it',
    userCan: () => detectTreeKill() !== 'process-search',
    code: () =>
      `unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /mnt && echo mounted' > ${LEAK}`,
    worked: (_, workspace) => leaked(workspace).includes('mounted'),
  },
  {
    name: 'write a setting of the kernel',
    code: () => 'echo 7 > /proc/sys/vm/stat_interval',
    worked: () => {
      const isChanged = readText('/proc/sys/vm/stat_interval')?.trim() === '7';
      if (isChanged) writeFileSync('/proc/sys/vm/stat_interval', '1');
      return isChanged;
    },
    asRoot: true,
  },
  {
    name: 'open the setting that says what is run at a crash',
    code: () => `exec 9>>/proc/sys/kernel/core_pattern && echo opened > ${LEAK}`,
    worked: (_, workspace) => leaked(workspace).includes('opened'),
    asRoot: true,
  },
  {
    name: 'become root by a set-user-ID program',
    code: ({ folder }) => `${folder}/id -u > ${LEAK}`,
    worked: (_, workspace) => leaked(workspace).trim() === '0',
    asUser: true,
  },
  {
    name: 'type a command that is run outside',
    userCan: () => readText('/proc/sys/dev/tty/legacy_tiocsti')?.trim() !== '0',
    code: ({ folder }) =>
      python(
        `tty = os.open("/dev/tty", os.O_RDWR)\nfor c in "touch ${folder}/typed; exit\\n": fcntl.ioctl(tty, termios.TIOCSTI, c.encode())`,
      ) + '\nbash --norc --noediting -i',
    worked: ({ folder }) => existsSync(join(folder, 'typed')),
  },
];

const PROCESSES: Probe[] = [
  {
    name: 'read the environment of a process outside',
    code: () => `cat /proc/[0-9]*/environ > ${LEAK}`,
    worked: ({ secret }, workspace) => leaked(workspace).includes(secret),
  },
  {
    name: 'open the memory of a process outside',
    userCan: canTrace,
    code: ({ pid }) => `exec 9<>/proc/${pid}/mem && echo opened > ${LEAK}`,
    worked: (_, workspace) => leaked(workspace).includes('opened'),
  },
  {
    name: 'trace a process outside',
    userCan: canTrace,
    // PTRACE_SEIZE with PTRACE_O_EXITKILL: it ends with its tracer.
    code: ({ pid }) => python(`ctypes.CDLL(None).ptrace(0x4206, ${pid}, 0, 0x100000)`),
    worked: ({ pid }) => !isRunning(pid),
  },
  {
    name: 'end a process outside',
    code: ({ pid }) => `kill -9 ${pid}`,
    worked: ({ pid }) => !isRunning(pid),
  },
];

/** What a network of its own, with a way to named hosts, could open. */
export const PROBES_OF_NAMESPACES: readonly Probe[] = [...NETWORK, ...KERNEL];
export const PROBES: readonly Probe[] = [...FILES, ...NETWORK, ...KERNEL, ...PROCESSES];

/** What the probe before left in a workspace. */
export function tidy(workspace: string): void {
  for (const name of ['leak', 'hard', 'link', 'disk', 'mounted', 'elsewhere'])
    rmSync(join(workspace, name), { recursive: true, force: true });
}
