// Brings what changed between two recorded states into a third one: per path, and line by line where both changed a text.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldersOn, shownPath, type BytePath } from '../byte-path';
import type { ReachInside } from '../files/reach-inside';
import type { TreeFacts } from '../git/facts';
import { GitFailure, type Git } from '../git/git-run';
import {
  filesIn,
  ObjectReader,
  treeDifferences,
  type Recorded,
  type TreeDifference,
  type TreeEntry,
} from '../git/object-reader';
import { blobHash, type TreeChange } from '../git/object-writer';

export interface MergeConflict {
  path: string;
  why: string;
}

export interface Merged {
  changes: TreeChange[];
  /** Contents that no side has. */
  contents: Buffer[];
  facts: TreeFacts;
  conflicts: MergeConflict[];
}

export interface MergeSides {
  base: Recorded;
  ours: Recorded;
  theirs: Recorded;
}

/** Other exit codes are the number of conflicts (git-merge-file(1)). */
const FAILED = 255;

const isText = (entry: TreeEntry | null): entry is TreeEntry =>
  entry !== null && (entry.mode === 0o100644 || entry.mode === 0o100755);
const isEqual = (a: TreeEntry | null, b: TreeEntry | null): boolean =>
  a?.oid === b?.oid && a?.mode === b?.mode;

/**
 * @param scratch a folder for temporary files
 * @param reach of the agent whose files are `ours`: what it may not change is a conflict
 */
export async function mergeFiles(
  git: Git,
  sides: MergeSides,
  { scratch, reach }: { scratch: string; reach: ReachInside },
): Promise<Merged> {
  const { base, ours, theirs } = sides;
  const [own, others] = await Promise.all([
    treeDifferences(git, base.tree, ours.tree),
    treeDifferences(git, base.tree, theirs.tree),
  ]);
  const merging = new Merging(git, sides, new Map(own.map((one) => [one.path, one])));
  const folder = mkdtempSync(join(scratch, 'merge-'));
  try {
    using objects = new ObjectReader(git);
    for (const one of others) await merging.bring(one, objects, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  await merging.checkFolders();
  merging.checkReach(reach);
  return merging.merged;
}

class Merging {
  readonly merged: Merged;

  constructor(
    private readonly git: Git,
    private readonly sides: MergeSides,
    private readonly own: ReadonlyMap<BytePath, TreeDifference>,
  ) {
    this.merged = { changes: [], contents: [], facts: mergedFacts(sides), conflicts: [] };
  }

  async bring({ path, before, after }: TreeDifference, objects: ObjectReader, folder: string): Promise<void> {
    const own = this.own.get(path);
    if (this.sides.theirs.facts.left.has(path) || this.sides.ours.facts.left.has(path))
      return this.conflict(path, 'one side did not record it');
    if (!own) return void this.merged.changes.push([path, after]);
    if (isEqual(own.after, after)) return;
    if (own.after === null) return this.conflict(path, 'it was deleted here and changed there');
    if (after === null) return this.conflict(path, 'it was changed here and deleted there');
    if (before === null) return this.conflict(path, 'both sides added it, with different contents');
    if (![before, own.after, after].every(isText))
      return this.conflict(path, 'both sides changed it, and it is no regular file on each');
    await this.mergeText(path, { before, own: own.after, after }, objects, folder);
  }

  /** A file must not be where a folder has to be, and the other way round. A folder that one side fills is not empty. */
  async checkFolders(): Promise<void> {
    const { changes, facts } = this.merged;
    const { ours } = this.sides;
    const added = changes.filter(([, entry]) => entry !== null).map(([path]) => path);
    const gone = new Set(changes.filter(([, entry]) => entry === null).map(([path]) => path));
    const recorded = (await filesIn(this.git, ours.tree)).filter((path) => !gone.has(path));
    // No tree has those that were left out, but they are there.
    const files = new Set([...recorded, ...ours.facts.left.keys()]);
    const folders = new Set([...files, ...facts.empty].flatMap(foldersOn));
    for (const path of added)
      if (folders.has(path) || facts.empty.has(path))
        this.conflict(path, 'it is a folder here and a file there');
    for (const path of facts.empty)
      if (files.has(path)) this.conflict(path, 'it is a file here and a folder there');
    for (const path of [...added, ...facts.empty])
      if (foldersOn(path).some((folder) => files.has(folder)))
        this.conflict(path, 'a folder on its way is a file here');
    const filled = new Set([...recorded, ...added, ...facts.empty].flatMap(foldersOn));
    facts.empty = new Set([...facts.empty].filter((folder) => !filled.has(folder)));
  }

  /** What the agent's own commands could not do, is not done for it. */
  checkReach(reach: ReachInside): void {
    const { facts, conflicts, changes } = this.merged;
    const { ours } = this.sides;
    const folders = [...facts.empty, ...ours.facts.empty].filter(
      (folder) => facts.empty.has(folder) !== ours.facts.empty.has(folder),
    );
    const modes = [...new Set([...facts.modes.keys(), ...ours.facts.modes.keys()])].filter(
      (path) => facts.modes.get(path) !== ours.facts.modes.get(path),
    );
    const paths = [...changes.map(([path]) => path), ...folders, ...modes];
    const refused = paths.filter((path) =>
      path.endsWith('/') ? !reach.mayChangeIn(path.slice(0, -1)) : !reach.mayChange(path),
    );
    const known = new Set(conflicts.map(({ path }) => path));
    for (const path of new Set(refused))
      if (!known.has(shownPath(path)))
        this.conflict(path, `${reach.limit} ${reach.mayRead(path) ? 'makes it read-only' : 'hides it'} here`);
  }

  private async mergeText(
    path: BytePath,
    { before, own, after }: { before: TreeEntry; own: TreeEntry; after: TreeEntry },
    objects: ObjectReader,
    folder: string,
  ): Promise<void> {
    const mode = after.mode === before.mode ? own.mode : after.mode;
    if (after.oid === before.oid || after.oid === own.oid)
      return void this.merged.changes.push([path, { mode, oid: own.oid }]);
    if (own.oid === before.oid) return void this.merged.changes.push([path, { mode, oid: after.oid }]);
    const names = ['ours', 'base', 'theirs'].map((name) => join(folder, name));
    for (const [at, entry] of [own, before, after].entries())
      writeFileSync(names[at] ?? '', await objects.whole(entry.oid));
    const content = await this.mergeLines(names);
    if (typeof content === 'string') return this.conflict(path, content);
    const oid = blobHash(content.length).update(content).digest('hex');
    this.merged.contents.push(content);
    this.merged.changes.push([path, { mode, oid }]);
  }

  /** The content, or why there is none. */
  private async mergeLines(names: readonly string[]): Promise<Buffer | string> {
    try {
      return await this.git.run(['merge-file', '-p', '-q', '--', ...names]);
    } catch (err) {
      if (!(err instanceof GitFailure)) throw err;
      return err.status === FAILED
        ? 'both sides changed it, and it is not text'
        : 'both sides changed the same lines';
    }
  }

  private conflict(path: BytePath, why: string): void {
    this.merged.conflicts.push({ path: shownPath(path), why });
  }
}

/** Ours, with what theirs changed of empty folders and modes. */
function mergedFacts({ base, ours, theirs }: MergeSides): TreeFacts {
  const empty = new Set(ours.facts.empty);
  for (const folder of theirs.facts.empty) if (!base.facts.empty.has(folder)) empty.add(folder);
  for (const folder of base.facts.empty) if (!theirs.facts.empty.has(folder)) empty.delete(folder);
  const modes = new Map(ours.facts.modes);
  for (const path of new Set([...base.facts.modes.keys(), ...theirs.facts.modes.keys()])) {
    const mode = theirs.facts.modes.get(path);
    if (mode === base.facts.modes.get(path)) continue;
    if (mode === undefined) modes.delete(path);
    else modes.set(path, mode);
  }
  return { ...ours.facts, empty, modes };
}
