// The files that a glob includes. A glob becomes a regular expression, and one with many stars may take for ever to say no:
// a clock that interrupts it counts all the time that it takes.
import { basename, relative } from 'node:path';
import { createContext, Script } from 'node:vm';
import picomatch from 'picomatch';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';

/** Nothing else runs in this process meanwhile. A hundred thousand files take a tenth of it. */
const LONGEST_MS = 1_000;
const AT_ONCE = 256;
const MATCH = new Script('paths.map((path) => glob.test(path))');

/** Those of `files`, all below `folder`, that `glob` includes. Throws `invalid_input` if matching takes too long. */
export async function* includedFiles(
  files: AsyncIterable<string>,
  folder: string,
  glob: string,
): AsyncGenerator<string> {
  // As in .gitignore: a name without a slash matches at any depth.
  const subjectOf = (file: string): string => (glob.includes('/') ? relative(folder, file) : basename(file));
  const context = createContext({ glob: picomatch.makeRe(glob, { dot: true }), paths: [] });
  let leftMs = LONGEST_MS;
  const matching = (some: string[]): string[] => {
    const began = performance.now();
    context.paths = some.map(subjectOf);
    const isIncluded = inTime(context, Math.max(1, Math.ceil(leftMs)), glob);
    leftMs -= performance.now() - began;
    return some.filter((_, index) => isIncluded[index]);
  };
  let some: string[] = [];
  for await (const file of files) {
    if (some.push(file) < AT_ONCE) continue;
    yield* matching(some);
    some = [];
  }
  yield* matching(some);
}

function inTime(context: object, timeout: number, glob: string): boolean[] {
  try {
    return MATCH.runInContext(context, { timeout }) as boolean[];
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw err;
    throw new HoldfastError('invalid_input', {
      what: 'The argument "include"',
      got: `${glob}, which takes more than ${LONGEST_MS} ms to match`,
      allowed: 'a pattern with fewer stars',
      next: 'Name a folder with path, or use a simpler pattern.',
    });
  }
}
