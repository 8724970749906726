// Changes several files, all of them or none: what was done is undone when one is refused.
import { link, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolders } from '../../../system/make-folder';
import { besideOf, prepareAt, type Prepared } from '../atomic-write';
import { fileError } from '../host-files';
import type { PatchPlan } from './plan-patch';

/**
 * All new contents are written beside their files before the first is moved in: a full disk changes nothing. What is
 * replaced or deleted stays beside its place until all is done, also if the process ends before that.
 */
export async function changeFiles(contents: PatchPlan['contents']): Promise<void> {
  const prepared: Prepared[] = [];
  const kept: Kept[] = [];
  let path = '';
  try {
    for (const [file, planned] of contents) {
      path = file;
      if (planned === null) continue;
      await makeFolders(dirname(file));
      prepared.push(await prepareAt(file, planned.content, planned.modeOf));
    }
    for (const one of prepared) {
      path = one.target;
      const before = await keep(one.target);
      if (before.beside !== null) kept.push(before);
      await one.commit();
      if (before.beside === null) kept.push(before);
    }
    for (const [file, planned] of contents) {
      path = file;
      // A file that the same patch adds and deletes never existed.
      if (planned === null) kept.push({ file, beside: await moved(file) });
    }
  } catch (err) {
    for (const one of kept.reverse()) await restore(one);
    kept.length = 0;
    throw fileError(err, 'changed', path);
  } finally {
    for (const { beside } of kept) if (beside !== null) await unlink(beside).catch(() => undefined);
    for (const one of prepared) await one.discard();
  }
}

interface Kept {
  file: string;
  /** What was there; null: nothing. */
  beside: string | null;
}

/** By a second name, so that the file is there at any moment; where there can be none, it is moved. */
async function keep(file: string): Promise<Kept> {
  const beside = besideOf(file);
  try {
    await link(file, beside);
    return { file, beside };
  } catch {
    return { file, beside: await moved(file) };
  }
}

/** To where; null if nothing is there. */
async function moved(file: string): Promise<string | null> {
  const beside = besideOf(file);
  try {
    await rename(file, beside);
    return beside;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw err;
  }
}

/** What was possible a moment ago: if it is not any more, what was there stays beside its place. */
async function restore({ file, beside }: Kept): Promise<void> {
  try {
    if (beside === null) return await unlink(file);
    await rename(beside, file);
    // A rename leaves both names of one file.
    await unlink(beside);
  } catch {
    // Gone with the rename, or not possible.
  }
}
