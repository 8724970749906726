// Runs a few lines against the compiled code in a separate process, for guarantees that hold between processes.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const DIST = join(__dirname, '..', '..', '..', 'dist');

/** A test that fails half-way must not leave processes: they would keep jest from ending. */
const started = new Set<ChildProcess>();
afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  started.clear();
});

/** A process that runs compiled code. */
export interface DistProcess {
  child: ChildProcess;
  /** The next line of its standard output; rejects when it ends before. */
  nextLine(): Promise<string>;
  /** All of its standard error so far. */
  stderr(): string;
  ended: Promise<unknown>;
}

/** Runs the body of an async function, in which `load('system/lock')` is a module of `dist` and `args` are ours. */
export function runDist(body: string, ...args: string[]): DistProcess {
  const code = `const load = (name) => require(process.argv[1] + '/' + name + '.js');
    const args = process.argv.slice(2);
    (async () => { ${body} })().catch((err) => { console.error(err); process.exit(1); });`;
  const child = spawn(process.execPath, ['-e', code, DIST, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  started.add(child);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    nextLine: async () => {
      const next = await lines.next();
      if (next.done) throw new Error(`the process ended without a line: ${errors}`);
      return next.value;
    },
    stderr: () => errors,
    ended: once(child, 'close'),
  };
}
