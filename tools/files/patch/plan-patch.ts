// Checks a whole patch against the files, so that nothing is written unless all of it applies.
import { isUtf8 } from 'node:buffer';
import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import { followLinks } from '../atomic-write';
import { MAX_TEXT_BYTES, openRegular } from '../host-files';
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
    case 'add': {
      const file = await behindLinks(full);
      await refuseFolder(file, path, plan);
      plan.contents.set(file, { content: change.content, modeOf: file });
      plan.added.push(path);
      break;
    }
    case 'delete':
      await refuseMissing(full, path, plan);
      plan.contents.set(full, null);
      plan.deleted.push(path);
      break;
    case 'update': {
      if (plan.contents.get(full) === null) throw failed(`${path} is updated after it was deleted or moved.`);
      const file = await behindLinks(full);
      const text = await currentText(file, path, plan);
      const changed = change.hunks.length > 0 ? applyHunks(path, text, change.hunks) : text;
      const modeOf = plan.contents.get(file)?.modeOf ?? file;
      const target =
        change.moveTo === null ? file : await behindLinks(await placeOf(within(cwd, change.moveTo)));
      if (target !== file) {
        await refuseFolder(target, change.moveTo ?? path, plan);
        plan.contents.set(full, null);
      }
      plan.contents.set(target, { content: changed, modeOf });
      plan.modified.push(change.moveTo ?? path);
    }
  }
}

const failed = (reason: string): HoldfastError => new HoldfastError('patch_failed', { reason });

/** As in Codex: file references are relative, never absolute. */
function within(cwd: string, path: string): string {
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

async function refuseFolder(full: string, path: string, { contents }: PatchPlan): Promise<void> {
  const stats = contents.has(full) ? undefined : await stat(full).catch(() => undefined);
  if (stats && !stats.isFile())
    throw failed(`${path} cannot be written: it exists and is not a regular file.`);
}

async function refuseMissing(full: string, path: string, { contents }: PatchPlan): Promise<void> {
  if (contents.get(full)) return;
  const stats = contents.has(full) ? undefined : await lstat(full).catch(() => undefined);
  if (!stats) throw failed(`${path} cannot be deleted: it does not exist.`);
  if (stats.isDirectory()) throw failed(`${path} cannot be deleted: it is a folder.`);
}
