// Checks code before it runs, by parsing it. Advice that prevents mistakes: it is easy to bypass on purpose, and the
// sandbox is the boundary.
import { Worker } from 'node:worker_threads';
import type { CheckReport } from '../contracts/tools/checks';
import { reasonOf } from '../contracts/errors/holdfast-error';
import { MAX_CODE_BYTES, type Runtime } from '../contracts/sessions/session';
import { compiledEntry } from '../system/package-root';
import type { ThreadAnswer, ThreadRequest } from './check-thread';
import type { Language } from './findings';
import { PythonParser } from './python-parser';

/** Longer than everything in a check may take in total. */
const CHECK_MS = 10_000;
const MAX_HEAP_MB = 512;

const LANGUAGES: Record<Runtime, Language> = {
  terminal: 'bash',
  python: 'python',
  python_script: 'python',
  nodejs: 'javascript',
};

export interface CodeChecksOptions {
  /** The interpreter whose parser is used. Default `python3`. */
  python?: string | undefined;
  /** PATH for the interpreter, as shims of version managers need it. Default: this process's. */
  path?: string | undefined;
}

/** Uses one thread and, once there is Python, one process; both start with the first check that needs them. */
export class CodeChecks {
  private readonly python: PythonParser;
  private thread: Worker | undefined;
  private queue: Promise<unknown> = Promise.resolve();

  constructor({ python = 'python3', path = process.env.PATH }: CodeChecksOptions = {}) {
    this.python = new PythonParser(python, path);
  }

  /** Never rejects: `unparsed` says what could not be checked. One check at a time. */
  check({ runtime, code }: { runtime: Runtime; code: string }): Promise<CheckReport> {
    if (Buffer.byteLength(code) > MAX_CODE_BYTES) {
      return Promise.resolve(unchecked(`the code is longer than ${MAX_CODE_BYTES} bytes`));
    }
    const report = this.queue.then(() => this.ask(LANGUAGES[runtime], code));
    this.queue = report;
    return report;
  }

  /** Ends the thread and the process; a later check starts them again. */
  close(): void {
    void this.thread?.terminate();
    this.thread = undefined;
    this.python.close();
  }

  private ask(language: Language, code: string): Promise<CheckReport> {
    const thread = (this.thread ??= this.start());
    return new Promise((resolve) => {
      const end = (report: CheckReport, isOver: boolean): void => {
        clearTimeout(timer);
        thread.off('message', onMessage).off('error', onError).off('exit', onExit);
        thread.unref();
        if (isOver) this.drop(thread);
        resolve(report);
      };
      const onMessage = (answer: ThreadAnswer): void => {
        if ('report' in answer) end(answer.report, false);
        else
          void this.python
            .parse(answer.parse)
            .then((parsed) => thread.postMessage({ parsed } satisfies ThreadRequest));
      };
      const onError = (err: unknown): void => end(unchecked(`the check failed: ${reasonOf(err)}`), true);
      const onExit = (): void => end(unchecked('the check was ended'), true);
      const timer = setTimeout(() => end(unchecked('the check took too long'), true), CHECK_MS);
      thread.ref();
      thread.on('message', onMessage).once('error', onError).once('exit', onExit);
      thread.postMessage({ check: { language, code } } satisfies ThreadRequest);
    });
  }

  private start(): Worker {
    const thread = new Worker(compiledEntry('checks/check-thread.js'), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    // Also handled between checks: an error then must not end the process.
    thread.on('error', () => this.drop(thread)).on('exit', () => this.drop(thread));
    return thread;
  }

  private drop(thread: Worker): void {
    if (this.thread === thread) this.thread = undefined;
    void thread.terminate();
  }
}

const unchecked = (unparsed: string): CheckReport => ({ verdicts: [], unparsed });
