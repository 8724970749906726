// Files with keys and secrets: no other user may be able to read or write them.
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

const OTHERS = 0o077;

/** Throws unless the file is private: mode 0600 or less, owned by our user. Errors show none of its content. */
export function readPrivateFile(file: string): string {
  const opened = openSync(file, 'r');
  try {
    const { mode, uid } = fstatSync(opened);
    if ((mode & OTHERS) !== 0)
      throw new Error(`${file} has mode ${(mode & 0o777).toString(8)}, allowed 600 (run: chmod 600 ${file})`);
    const ours = process.getuid?.();
    if (uid !== ours) throw new Error(`${file} belongs to user ${uid}, allowed ${ours}`);
    return readFileSync(opened, 'utf8');
  } finally {
    closeSync(opened);
  }
}
