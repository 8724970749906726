// A shell that is opened before its session is known: starting a shell is most of the cost of a session's first
// command.
import type { Sandbox } from '../../sandbox/sandbox';
import { Shell, type ShellOptions } from './shell';

export interface SpareShell {
  shell: Shell;
  /** Its output during start. */
  early: Buffer[];
  /** The sandbox of this shell and of later shells of its session. */
  sandbox: Sandbox | undefined;
}

/** Ends this process if the shell ends before it is given to a session. */
export function openSpareShell(options: ShellOptions): SpareShell {
  const early: Buffer[] = [];
  const shell = new Shell(options);
  shell.serve({
    onOutput: (data) => early.push(data),
    onCommandEnd: () => undefined,
    onShellEnd: () => process.exit(1),
  });
  return { shell, early, sandbox: options.sandbox };
}
