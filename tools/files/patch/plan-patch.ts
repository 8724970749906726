// Checks a whole patch against the files, so that nothing is written unless all of it applies.
import { isUtf8 } from 'node:buffer';
import { lstat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { followLinks } from '../atomic-write';
import { isAtHome, kindOf, MAX_TEXT_BYTES, openRegular } from '../host-files';
import { applyHunks } from './apply-hunks';
import type { FileChange } from './parse-patch';

/** A file's new content. A renamed file keeps the mode of the original. */
export interface Planned {
  content: string;
  modeOf: string;
}

export interface PatchPlan {
  /** By full path; null: the file will be deleted. */
  contents: Map<string, Planned | null>;
  added: string[];
  modified: string[];
  deleted: string[];
}

/** Throws `patch_failed` for the first change that does not apply. */
export async function planPatch(cwd: string, changes: readonly FileChange[]): Promise<PatchPlan> {
  const plan: PatchPlan = { contents: new Map(), added: [], modified: [], deleted: [] };
  for (const change of changes) await planChange(cwd, change, plan);
  return plan;
}

async function planChange(cwd: string, change: FileChange, plan: PatchPlan): Promise<void> {
  const { kind, path } = change;
  const full = await placeOf(within(cwd, path));
  switch (kind) {
    case 'add':
      await refuseExisting(full, path, plan);
      plan.contents.set(full, { content: change.content, modeOf: full });
      plan.added.push(path);
      break;
    case 'delete':
      await refuseMissing(full, path, plan);
      plan.contents.set(full, null);
      plan.deleted.push(path);
      break;
    case 'update':
      await planUpdate(cwd, { ...change, full }, plan);
  }
}

async function planUpdate(
  cwd: string,
  { path, moveTo, hunks, full }: Extract<FileChange, { kind: 'update' }> & { full: string },
  plan: PatchPlan,
): Promise<void> {
  if (plan.contents.get(full) === null) throw failed(`${path} is updated after it was deleted or moved.`);
  const file = plan.contents.has(full) ? full : await behindLinks(full);
  const text = await currentText(file, path, plan);
  const content = hunks.length > 0 ? applyHunks(path, text, hunks) : text;
  const modeOf = plan.contents.get(file)?.modeOf ?? file;
  const target = moveTo === null ? full : await placeOf(within(cwd, moveTo));
  if (target === full) plan.contents.set(file, { content, modeOf });
  else {
    // Its text would be a file of its own, and what else uses the file would not see the change.
    if (file !== full)
      throw failed(
        `${path} is a symbolic link to ${file}, and a patch moves only files.`,
        `Update ${path} without "*** Move to", or move the link with a command (mv); nothing was changed.`,
      );
    await refuseExisting(target, moveTo ?? path, plan);
    plan.contents.set(full, null).set(target, { content, modeOf });
  }
  plan.modified.push(moveTo ?? path);
}

const failed = (reason: string, next?: string): HoldfastError =>
  new HoldfastError('patch_failed', { reason, ...(next !== undefined && { next }) });

/** As in Codex: file references are relative, never absolute. */
function within(cwd: string, path: string): string {
  if (isAtHome(path))
    throw failed(
      `${path} lies in the home folder, allowed paths below ${cwd}.`,
      `Use write_file with ${path} or an absolute path; a folder that is really called ~ is "./~". Nothing was changed.`,
    );
  const normal = normalize(path);
  if (isAbsolute(path) || normal === '..' || normal.startsWith('../') || path.includes('\0'))
    throw failed(`${path} lies outside: got an absolute path or one with "..", allowed paths below ${cwd}.`);
  return join(cwd, normal);
}

/** One file may have several paths: what a patch changes by two of them, it changes in one content. */
const behindLinks = (path: string): Promise<string> => followLinks(path).catch(() => path);

/** A link itself, which is what is deleted or moved, in the folder where it really is. */
const placeOf = async (path: string): Promise<string> =>
  join(await behindLinks(dirname(path)), basename(path));

const tooLarge = (path: string, bytes: number): HoldfastError =>
  new HoldfastError('patch_failed', {
    reason: `${path} has ${bytes} bytes, allowed up to ${MAX_TEXT_BYTES}`,
    next: 'Change it with a command, such as sed; nothing was changed.',
  });

/** The text after the earlier changes. */
async function currentText(full: string, path: string, { contents }: PatchPlan): Promise<string> {
  const planned = contents.get(full);
  if (planned === null) throw failed(`${path} is updated after it was deleted or moved.`);
  if (planned !== undefined) return planned.content;
  try {
    const { file, stats } = await openRegular(full);
    await using opened = file;
    if (stats.size > MAX_TEXT_BYTES) throw tooLarge(path, stats.size);
    const data = await opened.readFile();
    if (!isUtf8(data)) throw failed(`${path} is not UTF-8 text.`);
    return data.toString('utf8');
  } catch (err) {
    if (!(err instanceof HoldfastError) || err.code === 'patch_failed') throw err;
    throw failed(`${path} cannot be updated: ${err.message}`);
  }
}

/** Nothing is replaced that the patch does not show: whether it is a file, a folder or a link that leads nowhere. */
async function refuseExisting(full: string, path: string, { contents }: PatchPlan): Promise<void> {
  const planned = contents.get(full);
  if (planned === null) return;
  if (planned) throw failed(`${path} is written twice: an earlier section adds it or moves a file to it.`);
  const stats = await lstat(full).catch(() => undefined);
  if (!stats) return;
  const kind = stats.isSymbolicLink() ? 'a symbolic link' : kindOf(stats);
  const next = stats.isFile()
    ? `To change it, use "*** Update File: ${path}"; to replace it, put "*** Delete File: ${path}" before that section.`
    : 'Choose another name.';
  throw failed(`${path} exists already, as ${kind}, and would be lost.`, `${next} Nothing was changed.`);
}

async function refuseMissing(full: string, path: string, { contents }: PatchPlan): Promise<void> {
  if (contents.get(full)) return;
  const stats = contents.has(full) ? undefined : await lstat(full).catch(() => undefined);
  if (!stats) throw failed(`${path} cannot be deleted: it does not exist.`);
  if (stats.isDirectory()) throw failed(`${path} cannot be deleted: it is a folder.`);
}
