// Files that hold a text, by grep.
import { spawnSync } from 'node:child_process';

/** Their names, one a line; throws if grep could not look everywhere. Pipes and sockets are skipped. */
export function filesWith(text: string, ...places: string[]): string {
  const { status, stdout, stderr } = spawnSync('grep', ['-rlaF', '-D', 'skip', '-e', text, ...places], {
    encoding: 'utf8',
  });
  // 2: something could not be read, so that nothing found means nothing. What was found stays found.
  if (status !== 0 && status !== 1) throw new Error(`grep in ${places.join(', ')}: ${stderr}`);
  return stdout;
}
