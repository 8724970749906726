// Limits of what runs in a sandbox, by setrlimit(2), and how many of them this host enforces.
import type { SandboxLimits } from './profile';

const MIB = 1024 ** 2;

/** To put before a command inside of the sandbox: there the number of processes is counted for it alone. */
export function limitCommand(limits: SandboxLimits, prlimit = 'prlimit'): string[] {
  const { processes, memoryMb, cpuSec, fileMb, openFiles } = limits;
  const flags = [
    processes !== undefined && `--nproc=${processes}`,
    memoryMb !== undefined && `--data=${memoryMb * MIB}`,
    cpuSec !== undefined && `--cpu=${cpuSec}`,
    fileMb !== undefined && `--fsize=${fileMb * MIB}`,
    openFiles !== undefined && `--nofile=${openFiles}`,
  ].filter((flag) => flag !== false);
  return flags.length === 0 ? [] : [prlimit, ...flags, '--'];
}
