// The tables of the checks: one line per case, `rule | code` with ⏎ for a line end.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Each case as the text before the bar, and the code after it. */
export function checkCases(name: string): [before: string, code: string][] {
  return readFileSync(join(__dirname, '..', '..', 'fixtures', 'checks', name), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('# '))
    .map((line) => {
      const at = line.indexOf(' | ');
      return [line.slice(0, at), line.slice(at + 3).replaceAll('⏎', '\n')];
    });
}
