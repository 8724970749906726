// The TypeScript program of the README, for tests that run it as a reader would.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../system/package-root';

/** The file that the README has its readers save it as. */
export const README_FILE = 'hello.mts';
export const README_OUTPUT = 'exit code 0: yes\ndeploying: yes\nIt is deployed.\n';

/** Its text, unchanged. Throws unless the README has exactly one and names the file. */
export function readmeProgram(): string {
  const readme = readFileSync(join(packageRoot(), 'README.md'), 'utf8');
  const programs = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
  if (programs.length !== 1 || !readme.includes(`\`node ${README_FILE}\``))
    throw new Error(`README.md has ${programs.length} programs, or no longer names ${README_FILE}`);
  return programs[0] ?? '';
}
