// CPython's own parser, in one long-lived process: lines of JSON in, lines of JSON out. It never runs what it parses.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { packageRoot } from '../system/package-root';

const PARSE_MS = 3_000;
/** The tree of the longest allowed code has some megabytes. */
const MAX_ANSWER = 64 * 1024 * 1024;

type Child = ChildProcessByStdio<Writable, Readable, null>;

export class PythonParser {
  private child: Child | undefined;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly python: string,
    private readonly path: string | undefined,
  ) {}

  /** The answer as JSON text: the tree, or the reason why there is none. */
  parse(code: string): Promise<string> {
    const answer = this.queue.then(() => this.ask(code));
    this.queue = answer;
    return answer;
  }

  close(): void {
    this.child?.kill('SIGKILL');
    this.child = undefined;
  }

  private ask(code: string): Promise<string> {
    const child = (this.child ??= this.start());
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const end = (answer: string, isOver = true): void => {
        clearTimeout(timer);
        child.stdout.off('data', onData);
        child.off('error', onError).off('close', onClose);
        holdOpen(child, false);
        if (isOver) this.drop(child);
        resolve(answer);
      };
      const fault = (reason: string): void => end(JSON.stringify({ fault: reason }));
      const onData = (chunk: Buffer): void => {
        chunks.push(chunk);
        size += chunk.length;
        if (chunk.at(-1) === 0x0a) end(Buffer.concat(chunks).toString('utf8'), false);
        else if (size > MAX_ANSWER) fault('the answer of the Python parser was too long');
      };
      const onError = (err: Error): void =>
        fault(`${this.python} cannot be run, so Python is not checked: ${err.message}`);
      const onClose = (): void => fault('the Python parser crashed');
      const timer = setTimeout(() => fault('the Python parser took too long'), PARSE_MS);
      holdOpen(child, true);
      child.stdout.on('data', onData);
      child.once('error', onError).once('close', onClose);
      child.stdin.write(`${JSON.stringify({ code })}\n`);
    });
  }

  private start(): Child {
    const script = join(packageRoot(), 'checks', 'code', 'parse-python.py');
    // Isolated: no modules from the folder or the user, and no other variables of our environment.
    const child = spawn(this.python, ['-I', '-B', script], {
      cwd: '/',
      env: { PATH: this.path },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    child.on('error', () => this.drop(child));
    child.on('close', () => this.drop(child));
    // It exited before reading its input: its end is reported separately.
    child.stdin.on('error', () => undefined);
    child.unref();
    return child;
  }

  private drop(child: Child): void {
    if (this.child === child) this.child = undefined;
    child.kill('SIGKILL');
  }
}

/** Whether the child keeps this process alive: an idle parser must not. */
function holdOpen(child: Child, hold: boolean): void {
  for (const pipe of [child.stdin, child.stdout] as unknown as { ref(): void; unref(): void }[]) {
    if (hold) pipe.ref();
    else pipe.unref();
  }
}
