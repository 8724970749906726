// Runs one program of the host to its end: in its own process group, with the host's environment and no input.
import { spawn, type ChildProcess } from 'node:child_process';
import { statSync } from 'node:fs';
import { constants } from 'node:os';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { HeadTail, omissionNote } from './head-tail';
import { fileError } from '../files/host-files';
import { notBegun, refusal } from './not-begun';
import { openOutputPipe } from './output-pipe';
import type { ToolHost } from '../tool';
import { beginningOf } from '../../contracts/text/well-formed';

/** From SIGTERM to SIGKILL. */
const GRACE_MS = 2_000;

export interface ProgramRequest {
  argv: readonly string[];
  cwd: string;
  /** The complete environment: nothing is inherited. */
  env: Readonly<Record<string, string>>;
  /** Ends the whole process group on abort; the call then throws the signal's reason. */
  signal: AbortSignal;
  timeoutMs?: number | undefined;
  /** Present on a host with a sandbox. */
  confine?: ToolHost['confine'];
  /** Bytes of output to keep, half from its beginning and half from its end. */
  maxBytes: number;
}

export interface ProgramResult {
  /** stdout and stderr, in order of arrival. */
  output: string;
  /** As in shells: 128 + n for signal n, 127 for a missing program, 124 for a timeout. */
  exitCode: number;
}

export async function runProgram(request: ProgramRequest): Promise<ProgramResult> {
  const { cwd, signal, timeoutMs, maxBytes } = request;
  signal.throwIfAborted();
  checkFolder(cwd);
  const output = new HeadTail(maxBytes);
  const pipe = await openOutputPipe((data) => output.push(data)).catch((err: unknown) => {
    throw notBegun(err);
  });
  const say = (line: string): void => output.push(Buffer.from(`${line}\n`));
  const text = (): string => output.text(omissionNote());
  let child: ChildProcess;
  try {
    // It was not heard while the pipe was opened.
    signal.throwIfAborted();
    child = start(request, pipe.fd);
  } catch (err) {
    pipe.finish();
    throw err;
  } finally {
    pipe.release();
  }
  const group = endable(child);
  signal.addEventListener('abort', group.end);
  let timedOut = false;
  const timer = setTimeout(
    () => {
      timedOut = true;
      group.end();
    },
    timeoutMs ?? 2 ** 31 - 1,
  );
  try {
    const ended = await endOf(child).finally(() => pipe.finish());
    signal.throwIfAborted();
    if ('missing' in ended) {
      say(ended.missing);
      return { output: text(), exitCode: ended.exitCode };
    }
    if (timedOut) say(`[ended after the timeout of ${timeoutMs} ms]`);
    return { output: text(), exitCode: timedOut ? 124 : ended.exitCode };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', group.end);
    group.forget();
  }
}

function start({ argv, cwd, env, confine }: ProgramRequest, fd: number): ChildProcess {
  const [file = '', ...args] = confine ? confine(cwd, argv) : argv;
  try {
    // The program that enters the sandbox must not start in a folder that code in the sandbox can write.
    return spawn(file, args, { cwd: confine ? '/' : cwd, env, stdio: ['ignore', fd, fd], detached: true });
  } catch (err) {
    // Node throws some faults at once, such as arguments that are too long.
    const refused = refusal(err);
    if (refused) throw refused;
    const { code = 'unknown' } = err as NodeJS.ErrnoException;
    throw new HoldfastError('invalid_input', {
      what: 'The command',
      got: `${beginningOf(argv.join(' '), 100)} (${code})`,
      allowed: 'a program that the system can start',
      next:
        code === 'E2BIG'
          ? 'Write long text to a file and pass its path.'
          : 'Correct the command; nothing ran.',
    });
  }
}

/** The signals for a whole group: TERM first, KILL a moment later. */
function endable(child: ChildProcess): { end: () => void; forget: () => void } {
  let kill: NodeJS.Timeout | undefined;
  const send = (signal: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code !== 'ESRCH') throw err;
    }
  };
  const end = (): void => {
    if (kill) return;
    send('SIGTERM');
    kill = setTimeout(() => send('SIGKILL'), GRACE_MS);
    // The group's leader has ended: other members, which ignored SIGTERM, get no more time.
    child.once('exit', () => send('SIGKILL'));
  };
  return { end, forget: () => clearTimeout(kill) };
}

function endOf(child: ChildProcess): Promise<{ exitCode: number } | { exitCode: number; missing: string }> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) =>
      resolve({ exitCode: code ?? 128 + (signal ? constants.signals[signal] : 0) }),
    );
    child.once('error', (err: NodeJS.ErrnoException) => {
      const file = child.spawnfile;
      if (err.code === 'ENOENT')
        resolve({ exitCode: 127, missing: `${file}: no such program on the PATH of the host` });
      else if (err.code === 'EACCES') resolve({ exitCode: 126, missing: `${file}: may not be run` });
      else reject(child.pid === undefined ? notBegun(err) : err);
    });
  });
}

/** A missing folder and a missing program look alike when starting a program. */
function checkFolder(cwd: string): void {
  let isFolder: boolean;
  try {
    isFolder = statSync(cwd).isDirectory();
  } catch (err) {
    throw fileError(err, 'listed', cwd, 'Name another workdir; nothing ran.');
  }
  if (!isFolder)
    throw new HoldfastError('invalid_input', { what: 'The workdir', got: cwd, allowed: 'a folder' });
}
