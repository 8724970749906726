// A thread that checks code: whatever the code is, the thread can be ended from outside, and nothing else is blocked.
import { parentPort } from 'node:worker_threads';
import type { CheckReport } from '../contracts/tools/checks';
import { analyse } from './analyse';
import { loadBash } from './bash/tree';
import type { PythonTree } from './code/follow-program';
import type { Language } from './findings';

/** To the thread. */
export type ThreadRequest = { check: { language: Language; code: string } } | { parsed: string };
/** From the thread. */
export type ThreadAnswer = { report: CheckReport } | { parse: string };

const port = parentPort;
if (!port) throw new Error('runs only as a thread');
let parsed: (answer: string) => void = () => undefined;

const parsePython = async (code: string): Promise<PythonTree> => {
  const answer = new Promise<string>((resolve) => (parsed = resolve));
  port.postMessage({ parse: code } satisfies ThreadAnswer);
  return JSON.parse(await answer) as PythonTree;
};

port.on('message', (request: ThreadRequest) => {
  if ('parsed' in request) parsed(request.parsed);
  else void check(request.check);
});

async function check({ language, code }: { language: Language; code: string }): Promise<void> {
  await loadBash();
  const report = await analyse(language, code, parsePython);
  port?.postMessage({ report } satisfies ThreadAnswer);
}
