// Searches files without ripgrep, using JavaScript's regular expressions.
import { Worker } from 'node:worker_threads';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { compiledEntry } from '../../../system/package-root';
import { toJavaScript } from './expression';
import { UnsupportedError } from './expression-escapes';
import type { Match, SearchRequest } from './search';

/** If a file takes more processor time, the expression is backtracking endlessly. */
const MAX_FILE_MS = 3_000;
const LOOK_AGAIN_MS = 250;

/** Throws `invalid_input` for an invalid expression, and for one that takes too long. */
export async function searchInNode({ pattern, files, limit, signal }: SearchRequest): Promise<Match[]> {
  const expression = { ...compile(pattern), files, limit };
  const worker = new Worker(compiledEntry('tools/files/grep/search-worker.js'), {
    workerData: expression,
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  const found: Match[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Match[]>((resolve, reject) => {
      const stop = (): void => reject(signal.reason as Error);
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      worker.on('message', ({ file, matches }: { file?: number; matches?: Match[] }) => {
        found.push(...(matches ?? []));
        if (file === undefined) return;
        clearTimeout(timer);
        const before = process.cpuUsage();
        const look = (): void => {
          const { user, system } = process.cpuUsage(before);
          // Of the whole process: with less than that, the thread cannot have had its time.
          if (user + system >= MAX_FILE_MS * 1_000) reject(tooSlow(pattern, files[file] ?? ''));
          else timer = setTimeout(look, LOOK_AGAIN_MS);
        };
        timer = setTimeout(look, MAX_FILE_MS);
      });
      worker.once('error', reject);
      worker.once('exit', () => resolve(found));
    });
  } finally {
    clearTimeout(timer);
    await worker.terminate();
  }
}

function compile(pattern: string): { source: string; flags: string } {
  try {
    const source = toJavaScript(pattern);
    new RegExp(source, 'v');
    return { source, flags: 'v' };
  } catch (err) {
    // JavaScript's own words are about the translation.
    throw invalid(
      pattern,
      err instanceof UnsupportedError ? err.message : 'invalid, or not supported without ripgrep on the host',
    );
  }
}

const invalid = (pattern: string, reason: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The argument "pattern"',
    got: `${pattern} (${reason})`,
    allowed: 'a regular expression',
    next: 'Correct it; characters such as ( [ { . * + ? need a "\\" before them to stand for themselves.',
  });

const tooSlow = (pattern: string, file: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The argument "pattern"',
    got: `${pattern}, which takes longer than ${MAX_FILE_MS} ms in ${file}`,
    allowed: 'a faster expression',
    next: 'Avoid repetitions within repetitions, such as (a+)+, or install ripgrep on the host.',
  });
