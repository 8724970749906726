// A shell that is open before it is known which session it will be: starting one is most of what the first
// command of a session costs.
import type { Sandbox } from '../sandbox/sandbox';
import { Shell, type ShellOptions } from './shell';

export interface SpareShell {
  shell: Shell;
  /** What it printed at its start. */
  early: Buffer[];
  /** That it runs in, and the later shells of its session. */
  sandbox: Sandbox | undefined;
}

/** Ends this process where the shell ends before it is given away. */
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
