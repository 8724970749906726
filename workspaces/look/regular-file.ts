// Reads text that anybody may have put into a workspace.
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

const MAX_TEXT_BYTES = 1_048_576;

/** The text of a regular file of bounded size: anything may lie in a workspace, a pipe for instance. */
export function readText(path: string): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(fd);
    return stats.isFile() && stats.size <= MAX_TEXT_BYTES ? readFileSync(fd, 'utf8') : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
