// A thread that checks code: whatever the code is, the thread can be ended from outside, and nothing else is blocked.
import { parentPort, workerData } from 'node:worker_threads';
import { analyse } from './analyse';
import { loadBash } from './bash/syntax-tree';
import type { Language } from './findings';
import { PythonParser } from './python-parser';

/** What the thread is started with. */
export interface ThreadData {
  python: string;
  path: string | undefined;
}

/** To the thread, which answers with a `CheckReport`. */
export interface ThreadRequest {
  language: Language;
  code: string;
}

const { python, path } = workerData as ThreadData;
const parser = new PythonParser(python, path);

parentPort?.on('message', ({ language, code }: ThreadRequest) => void check(language, code));

async function check(language: Language, code: string): Promise<void> {
  await loadBash();
  parentPort?.postMessage(await analyse(language, code, (embedded) => parser.parse(embedded)));
}
