// Limits for what runs in a sandbox, by setrlimit(2), and which of them this host enforces.
import type { SandboxLimits } from './profile';

const MIB = 1024 ** 2;

/** Prefix for a command inside the sandbox: only there are its processes counted separately. */
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
