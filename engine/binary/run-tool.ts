// Runs a build or download tool to its end, in its own process group so that all of it can be stopped.
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { withPipes } from '../../system/processes/with-pipes';

const KILL_AFTER_MS = 3_000;
const KEPT_LINES = 5;

/** Options for running a tool. */
export interface ToolOptions {
  env: NodeJS.ProcessEnv;
  cwd?: string;
  /** Stops the whole process group: SIGTERM, then SIGKILL; the promise rejects with the signal's reason. */
  signal?: AbortSignal;
  /** Called with each line of standard error. */
  onErrorLine?: (line: string) => void;
}

/**
 * Runs the tool and resolves with the lines of its standard output; if it fails, rejects with the last lines of its
 * standard error. Its standard input stays open until we die, so that a tool can notice that.
 */
export async function runTool(command: string, args: string[], options: ToolOptions): Promise<string[]> {
  const { env, cwd, signal, onErrorLine } = options;
  signal?.throwIfAborted();
  const child = withPipes(
    spawn(command, args, { env, cwd, detached: true, stdio: ['pipe', 'pipe', 'pipe'] }),
  );
  const output: string[] = [];
  const lastErrors: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => output.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (lastErrors.push(line) > KEPT_LINES) lastErrors.shift();
    onErrorLine?.(line);
  });
  const onAbort = (): void => stopGroup(child);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    const ended = await endOf(child);
    signal?.throwIfAborted();
    if (ended !== 0)
      throw new Error(`${command} ended with ${ended}: ${lastErrors.join(' / ') || 'no message'}`);
    return output;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    child.stdin.destroy();
  }
}

/** Resolves with the exit code or the signal's name, once its output has been read completely. */
function endOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signalName) => resolve(code ?? signalName ?? 'no exit code'));
  });
}

function stopGroup(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  const kill = (signalName: NodeJS.Signals): void => {
    try {
      process.kill(-pid, signalName);
    } catch {
      // The group has already exited.
    }
  };
  kill('SIGTERM');
  const timer = setTimeout(() => kill('SIGKILL'), KILL_AFTER_MS);
  child.once('close', () => clearTimeout(timer));
}
