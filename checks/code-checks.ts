// Checks code before it runs, by parsing it. Advice that prevents mistakes: it is easy to bypass on purpose, and the
// sandbox is the boundary.
import { Worker } from 'node:worker_threads';
import type { CheckReport } from '../contracts/tools/checks';
import { reasonOf } from '../contracts/errors/holdfast-error';
import { MAX_CODE_BYTES, type Runtime } from '../contracts/sessions/session';
import { compiledEntry } from '../system/package-root';
import type { ThreadData, ThreadRequest } from './check-thread';
import type { Language } from './findings';

/**
 * For a check that hangs. On a busy machine one takes several times its processor time: code that was not checked runs.
 */
const CHECK_MS = 30_000;
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
  private readonly data: ThreadData;
  private thread: Worker | undefined;
  private queue: Promise<unknown> = Promise.resolve();
  private answer: (report: CheckReport) => void = () => undefined;

  constructor({ python = 'python3', path = process.env.PATH }: CodeChecksOptions = {}) {
    this.data = { python, path };
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
    if (this.thread) this.drop(this.thread, 'the check was ended');
  }

  private ask(language: Language, code: string): Promise<CheckReport> {
    const thread = (this.thread ??= this.start());
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.drop(thread, 'the check took too long'), CHECK_MS);
      this.answer = (report) => {
        clearTimeout(timer);
        thread.unref();
        resolve(report);
      };
      thread.ref();
      thread.postMessage({ language, code } satisfies ThreadRequest);
    });
  }

  private start(): Worker {
    const thread = new Worker(compiledEntry('checks/check-thread.js'), {
      workerData: this.data,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    thread.on('message', (report: CheckReport) => {
      if (this.thread === thread) this.answer(report);
    });
    thread.on('error', (err) => this.drop(thread, `the check failed: ${reasonOf(err)}`));
    thread.on('exit', () => this.drop(thread, 'the check was ended'));
    return thread;
  }

  /** Its check, if it has one, ends without a report. */
  private drop(thread: Worker, reason: string): void {
    if (this.thread !== thread) return;
    this.thread = undefined;
    void thread.terminate();
    this.answer(unchecked(reason));
  }
}

const unchecked = (unparsed: string): CheckReport => ({ verdicts: [], unparsed });
