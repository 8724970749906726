// CPython's own parser, in one long-lived process: lines of JSON in, lines of JSON out. It never runs what it parses.
// It ends itself when the parser takes too long, or when the thread that started it ends.
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { reasonOf } from '../contracts/errors/holdfast-error';
import { packageRoot } from '../system/package-root';
import { withPipes } from '../system/processes/with-pipes';
import type { PythonTree } from './code/estree';

/** For a process that hangs: one that only takes long ends itself. */
const ANSWER_MS = 15_000;
/** Of code of the greatest allowed length, the answers that were measured took 14 MB at most. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** Parses one piece at a time. */
export class PythonParser {
  private child: Child | undefined;
  private answer: (tree: PythonTree) => void = () => undefined;

  constructor(
    private readonly python: string,
    private readonly path: string | undefined,
  ) {}

  /** Never rejects. */
  parse(code: string): Promise<PythonTree> {
    return new Promise((resolve) => {
      let child: Child;
      try {
        child = this.child ??= this.start();
      } catch (err) {
        return resolve({ fault: this.unusable(err) });
      }
      const timer = setTimeout(() => child.kill('SIGKILL'), ANSWER_MS);
      this.answer = (tree) => {
        clearTimeout(timer);
        resolve(tree);
      };
      child.stdin.write(`${JSON.stringify(code)}\n`);
    });
  }

  private start(): Child {
    const script = join(packageRoot(), 'checks', 'code', 'parse-python.py');
    // Isolated: no modules from the folder or the user, and no other variables of our environment.
    const child = withPipes(
      spawn(this.python, ['-I', '-B', script], {
        cwd: '/',
        env: { PATH: this.path },
        stdio: ['pipe', 'pipe', 'ignore'],
      }),
    );
    const fail = (fault: string): void => {
      if (this.child !== child) return;
      this.child = undefined;
      this.answer({ fault });
    };
    const chunks: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) {
        fail('the answer of the Python parser was too long');
        child.kill('SIGKILL');
        return;
      }
      chunks.push(chunk);
      if (chunk.at(-1) !== 0x0a) return;
      bytes = 0;
      this.answer(JSON.parse(Buffer.concat(chunks.splice(0)).toString()) as PythonTree);
    });
    child.on('error', (err) => fail(this.unusable(err)));
    child.on('close', () => fail('the Python parser crashed or took too long'));
    // It exited before reading its input: its end is reported separately.
    child.stdin.on('error', () => undefined);
    return child;
  }

  private unusable(why: unknown): string {
    return `${this.python} cannot be run, so Python is not checked: ${reasonOf(why)}`;
  }
}
