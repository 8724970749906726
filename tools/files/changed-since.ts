// An approval is for the file as it was when it was asked for: what was written to it meanwhile is not overwritten.
import { stat } from 'node:fs/promises';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { openRegular } from './host-files';

/**
 * Throws `approval_outdated` if a file was changed or created since the call's approval was asked for, unless the call itself
 * has done that: an earlier attempt may have been cut off after it. By the time of the last change, which a rename sets as well.
 */
export async function refuseChangedSince(
  askedAt: number | undefined,
  file: string,
  { path, content }: { path: string; content?: string },
): Promise<void> {
  if (askedAt === undefined) return;
  const stats = await stat(file).catch(() => undefined);
  // Opening it says what is wrong with anything else.
  if (!stats?.isFile() || stats.ctimeMs <= askedAt) return;
  if (content !== undefined && (await holds(file, content).catch(() => false))) return;
  throw new HoldfastError('approval_outdated', { got: path });
}

/** A file of another length is not read. */
async function holds(path: string, content: string): Promise<boolean> {
  const { file, stats } = await openRegular(path);
  try {
    return stats.size === Buffer.byteLength(content) && (await file.readFile('utf8')) === content;
  } finally {
    await file.close();
  }
}
