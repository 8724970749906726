// Parts of a checkpoint that follow from what was read. Pure.
import type { RewoundFiles, SkippedFile } from '../../contracts/workspaces/checkpoints';
import { joined, shownPath } from '../byte-path';
import type { MovedAside } from '../files/moved-aside';
import type { TreeChange } from '../git/object-writer';
import type { ReadFiles } from './read-files';
import type { StatIndex } from './stat-index';
import type { WorkspaceState } from './workspace-state';

const FIRST_SKIPPED = 10;

/** By how many bytes all files together became larger. */
export function grown(index: StatIndex, { entries }: ReadFiles): number {
  let bytes = 0;
  for (const [path, entry] of entries) bytes += (entry?.size ?? 0) - (index.find(path)?.size ?? 0);
  return bytes;
}

/** Deletions first: a folder may have taken the place of a file. */
export function treeChanges({ changed, entries }: ReadFiles): TreeChange[] {
  const gone: TreeChange[] = [];
  const there: TreeChange[] = [];
  for (const [path, entry] of entries)
    if (entry === null) gone.push([path, null]);
    else if (changed.has(path)) there.push([path, entry]);
  return [...gone, ...there];
}

export const specialIn = ({ folders }: WorkspaceState): SkippedFile[] =>
  [...folders].flatMap(([folder, { special }]) =>
    special.map((name) => ({
      path: shownPath(joined(folder, name)),
      why: 'it is a socket, a pipe or a device',
    })),
  );

/** As an answer says what a rewind does not bring back. */
export const notRestoredIn = (files: readonly SkippedFile[]): Pick<RewoundFiles, 'notRestored'> =>
  files.length === 0 ? {} : { notRestored: { count: files.length, first: files.slice(0, FIRST_SKIPPED) } };

/** As an answer says what was left out. */
export const skippedIn = (
  skipped: readonly SkippedFile[],
): { skipped?: { count: number; first: SkippedFile[] } } =>
  skipped.length === 0 ? {} : { skipped: { count: skipped.length, first: skipped.slice(0, FIRST_SKIPPED) } };

/** As an answer says what was in the way. */
export const movedAsideIn = (moved: readonly MovedAside[]): Pick<RewoundFiles, 'movedAside'> =>
  moved.length === 0
    ? {}
    : {
        movedAside: {
          count: moved.length,
          first: moved
            .slice(0, FIRST_SKIPPED)
            .map(({ path, to }) => ({ path: shownPath(path), to: shownPath(to) })),
        },
      };
