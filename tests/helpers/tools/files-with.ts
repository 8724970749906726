// Files that hold a text, by grep.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';

/** Their names, one a line; throws if grep could not look everywhere. Pipes and sockets are skipped. */
export function filesWith(text: string, ...places: string[]): string {
  for (const place of places) statSync(place);
  const { error, status, stdout, stderr } = spawnSync(
    'grep',
    ['-rlaF', '-D', 'skip', '-e', text, ...places],
    {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
    },
  );
  if (error) throw error;
  // 2: something could not be read, so that nothing found means nothing. A file that has just been removed holds nothing.
  const unread = stderr
    .split('\n')
    .filter((line) => line !== '' && !line.endsWith('No such file or directory'));
  if (status === null || status > 2 || unread.length > 0)
    throw new Error(`grep in ${places.join(', ')} ended with ${status}: ${unread.join('\n')}`);
  return stdout;
}
