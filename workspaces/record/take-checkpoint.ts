// Takes a checkpoint of one workspace: looks what changed, reads that, and adds it to the store. The caller holds the
// workspace's lock.
import { mkdirSync, writeFileSync } from 'node:fs';
import type { ChangeCounts, SkippedFile } from '../../contracts/workspaces/checkpoints';
import { MIB } from '../../contracts/sessions/quotas';
import type { CheckpointSettings } from '../../contracts/workspaces/settings';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { crashPoint } from '../../system/faults/crash-point';
import { asStorageFailure } from '../../system/storage-failure';
import { folderOf, nameOf, type BytePath } from '../byte-path';
import { Inside, isDenied } from '../files/inside';
import type { ReachInside } from '../files/reach-inside';
import { factsMessage, type UsualModes } from '../git/facts';
import { GitFailure } from '../git/git-run';
import { ObjectWriter } from '../git/object-writer';
import { isTimeout, type Store } from '../git/store';
import { Breather } from '../../system/processes/breather';
import { emptyFolders, scanFolders, type ScanChoice } from '../look/folder-scan';
import { GitLooks, TooManyFiles } from '../look/git-looks';
import type { Surroundings } from '../look/surroundings';
import { grown, specialIn, treeChanges } from './checkpoint-parts';
import { nextFacts } from './next-facts';
import { LookTime, readFiles, type ReadFiles } from './read-files';
import { keeperFor } from './keepers';
import { DamagedIndex, StatIndex } from './stat-index';
import type { WorkspaceFolder, WorkspaceState } from './workspace-state';

/** A pipe called `.gitignore` blocks git, for instance. */
const LOOK_MS = 10_000;
/** How long a workspace is left alone that has too many files, or whose files take too long to look at. */
const OFF_MS = 600_000;
const SLOW_OFF_MS = 60_000;

/**
 * For the first checkpoint of a folder that is no repository, if `auto` chose it: a step waits for it, nothing says which
 * files count, and it may be a home folder or `/tmp`.
 */
const UNASKED = { files: 10_000, bytes: 256 * MIB };

/** There is no room in the store. */
export class StoreFull extends Error {}
/** This workspace has no checkpoints for now: a turn does not ask for it again. */
export class CheckpointsOff extends Error {}
/** It was slow to look at, which a later step may not find. */
export class WorkspaceSlow extends Error {}

export interface TakeChoice {
  store: Store;
  settings: CheckpointSettings;
  /** What is not readable for the agent that works there is not recorded. */
  reach: ReachInside;
  agent: string;
  /** Files that are recorded whether they are ignored or not. */
  also?: readonly BytePath[];
  /** Names that are not recorded, by their beginning. */
  without?: string;
  /** The usual modes of a workspace that is recorded for the first time; undefined: its most frequent ones. */
  usual?: UsualModes;
}

export interface Taken {
  state: WorkspaceState;
  changes: ChangeCounts | null;
  skipped: SkippedFile[];
}

/** Throws `CheckpointsOff`, `WorkspaceSlow`, `StoreFull`, `GitFailure` and what the disk says. */
export async function takeCheckpoint(
  folder: WorkspaceFolder,
  around: Surroundings,
  given: TakeChoice,
): Promise<Taken> {
  const state = folder.load(around.prefix);
  const isUnasked = given.settings.enabled === 'auto' && state.last === null && around.gitDir === undefined;
  const choice = isUnasked ? { ...given, settings: unasked(given.settings) } : given;
  const limits = `${choice.settings.maxFiles} ${choice.settings.maxBytes}`;
  if (state.off && state.off.until > Date.now() && state.off.limits === limits) throw withoutOne(state.off);
  try {
    return await new Taking({ ...state, off: null }, folder, around, choice).run();
  } catch (err) {
    const reason = reasonToBeOff(err, choice.settings, isUnasked);
    if (reason !== undefined) {
      const isSlow = isTimeout(err);
      const until = Date.now() + (isSlow ? SLOW_OFF_MS : OFF_MS);
      const off = { reason, until, limits, ...(isSlow && { isSlow }) };
      folder.save({ ...state, off });
      throw withoutOne(off);
    }
    // The store may have lost what the state is about: then all files are read again.
    const isLost = err instanceof DamagedIndex || (err instanceof GitFailure && !isOfTheDisk(err));
    if (state.last === null || !isLost) throw err;
    folder.forget();
    return new Taking(folder.load(around.prefix), folder, around, choice).run();
  }
}

const withoutOne = ({ reason, isSlow }: { reason: string; isSlow?: true }): Error =>
  isSlow ? new WorkspaceSlow(reason) : new CheckpointsOff(reason);

const isOfTheDisk = (err: GitFailure): boolean =>
  asStorageFailure(new Error(err.said)) instanceof HoldfastError;

const unasked = (settings: CheckpointSettings): CheckpointSettings => ({
  ...settings,
  maxFiles: Math.min(settings.maxFiles, UNASKED.files),
  maxBytes: Math.min(settings.maxBytes, UNASKED.bytes),
});

function reasonToBeOff(
  err: unknown,
  { maxFiles, maxBytes }: CheckpointSettings,
  isUnasked: boolean,
): string | undefined {
  const rule = (name: string, isOurs: boolean): string =>
    isUnasked && isOurs
      ? 'the limit of a folder in no git repository while `enabled` in [checkpoints] is "auto"'
      : `the limit of \`${name}\` in [checkpoints]`;
  if (err instanceof TooLarge)
    return `its files are larger together than ${maxBytes / MIB} MiB, ${rule('max_mb', maxBytes === UNASKED.bytes)}`;
  if (err instanceof TooManyFiles)
    return `it has more files than ${maxFiles}, ${rule('max_files', maxFiles === UNASKED.files)}`;
  return isTimeout(err) ? `a look at its files takes longer than ${LOOK_MS / 1_000} seconds` : undefined;
}

class TooLarge extends Error {}

class Taking {
  private readonly time = new LookTime();
  private readonly breather = new Breather();
  private readonly looks: GitLooks;
  private readonly read: { index?: StatIndex } = {};
  private readonly rules: string;
  private writing: ObjectWriter | undefined;

  constructor(
    private readonly before: WorkspaceState,
    private readonly folder: WorkspaceFolder,
    private readonly around: Surroundings,
    private readonly choice: TakeChoice,
  ) {
    const { reach, settings } = choice;
    this.rules = JSON.stringify([around.exclude, settings.include, reach.hidden]);
    this.looks = new GitLooks(choice.store.git, around, {
      excludeFile: folder.excludeFile,
      include: settings.include,
      reach,
      maxFiles: settings.maxFiles,
      lookMs: LOOK_MS,
    });
  }

  /** Not read if nothing changed: of many files it is large. */
  private get index(): StatIndex {
    return (this.read.index ??= this.folder.readIndex(this.before));
  }

  async run(): Promise<Taken> {
    using inside = new Inside(this.around.root);
    const { paths, tracked } = await this.candidates();
    try {
      return await this.choice.store.adding(() => this.record(inside, paths, tracked));
    } finally {
      this.writing?.abandon();
    }
  }

  /** What may have changed, sorted. */
  private async candidates(): Promise<{ paths: BytePath[]; tracked: WorkspaceState['tracked'] }> {
    const { before, folder, around, looks, choice } = this;
    if (before.rules !== this.rules || before.last === null) {
      mkdirSync(folder.path, { recursive: true, mode: 0o700 });
      writeFileSync(folder.excludeFile, around.exclude, { mode: 0o600 });
    }
    const index = folder.indexPath(before);
    const stamp = around.index?.stamp ?? '';
    const [changed, others, included, trackedPaths] = await Promise.all([
      before.index === '' ? [] : looks.changed(index),
      looks.others(index),
      looks.included(index),
      stamp === before.tracked.stamp ? before.tracked.paths : looks.trackedThoughIgnored(),
    ]);
    const also = [...included, ...trackedPaths, ...(choice.also ?? [])].filter(
      (path) => this.index.find(path) === undefined,
    );
    const { without } = choice;
    // What was recorded before it was hidden goes from the index.
    const hidden =
      before.rules === this.rules
        ? []
        : [...this.index.paths()].filter((path) => !this.looks.isRecordable(path));
    const paths = [...new Set([...changed, ...others, ...also, ...hidden])]
      .filter((path) => without === undefined || !nameBeginsWith(path, without))
      .sort();
    if (before.files + others.length > choice.settings.maxFiles) throw new TooManyFiles();
    return { paths, tracked: { stamp, paths: trackedPaths } };
  }

  private async record(
    inside: Inside,
    paths: BytePath[],
    tracked: WorkspaceState['tracked'],
  ): Promise<Taken> {
    const { before, time, breather, choice } = this;
    const { maxFileBytes } = choice.settings;
    if (before.last === null) await this.refuseTooLarge(inside, paths);
    const writer = (bytes: number): ObjectWriter => this.writer(bytes);
    const read = await readFiles(paths, {
      inside,
      index: () => this.index,
      fresh: before.fresh,
      isReadable: (path) => this.looks.isRecordable(path),
      time,
      maxFileBytes,
      writer,
      breather,
    });
    crashPoint('checkpoint-read');
    const bytes = read.entries.size > 0 ? this.index.with(read.entries) : undefined;
    const now = bytes && new StatIndex(before.prefix, bytes);
    const scan: ScanChoice = {
      known: before.folders,
      areRulesNew: before.rules !== this.rules || paths.some((path) => nameOf(path) === '.gitignore'),
      hasFilesBelow: (folder) => (now ?? this.index).hasBelow(folder),
      isReadable: (path) => this.looks.isRecordable(path),
      ignored: (asked) => this.looks.ignored(asked),
      settledNs: time.settledNs,
      breather,
    };
    const folders = await scanFolders(inside, scan);
    const touched = new Set([...read.entries.keys()].map(folderOf));
    const empty = await emptyFolders(folders, touched, scan);
    const { facts, counts } = nextFacts(before, read, { folders, empty, usual: choice.usual });
    const state: WorkspaceState = {
      ...before,
      facts,
      files: now?.count ?? before.files,
      bytes: before.bytes + (bytes ? grown(this.index, read) : 0),
      folders,
      fresh: read.fresh,
      rules: this.rules,
      tracked,
    };
    return this.finish(state, read, { bytes, counts });
  }

  /** Before anything is read: the first checkpoint copies all of it. */
  private async refuseTooLarge(inside: Inside, paths: readonly BytePath[]): Promise<void> {
    const { maxBytes, maxFileBytes } = this.choice.settings;
    let bytes = 0;
    for (const path of paths) {
      await this.breather.breathe();
      const size = sizeOf(inside, path);
      if (size <= maxFileBytes) bytes += size;
      if (bytes > maxBytes) throw new TooLarge();
    }
  }

  private async finish(
    state: WorkspaceState,
    read: ReadFiles,
    { bytes, counts }: { bytes: Buffer | undefined; counts: ChangeCounts },
  ): Promise<Taken> {
    const { before, choice } = this;
    const { last } = before;
    const isSame =
      last !== null &&
      treeChanges(read).length === 0 &&
      factsMessage(state.facts) === factsMessage(before.facts);
    const skipped = [...read.left, ...specialIn(state)];
    if (isSame && before.keepers.get(choice.agent)?.commit === last.commit) {
      const saved = bytes || isOther(state, before) ? this.folder.save(state, bytes) : state;
      return { state: saved, changes: counts, skipped };
    }
    const keeper = keeperFor(before, choice.agent);
    if (isSame) {
      const tip = await this.writer(0).finishKeeping(keeper.plan, last);
      const keepers = new Map(before.keepers).set(choice.agent, {
        ref: keeper.plan.ref,
        tip,
        commit: last.commit,
      });
      return { state: this.folder.save({ ...state, keepers }, bytes), changes: counts, skipped };
    }
    const { commit, tree, tip } = await this.writer(0).finish({
      base: last?.tree ?? null,
      changes: treeChanges(read),
      message: factsMessage(state.facts),
      keeper: keeper.plan,
    });
    crashPoint('checkpoint-stored');
    const keepers = new Map(before.keepers).set(choice.agent, { ref: keeper.plan.ref, tip, commit });
    const saved = this.folder.save({ ...state, last: { commit, tree }, keepers, rewound: null }, bytes);
    return { state: saved, changes: last === null ? null : counts, skipped };
  }

  private writer(bytes: number): ObjectWriter {
    const { store, settings } = this.choice;
    if (this.writing === undefined) {
      this.room = settings.storeBytes - store.bytes();
      this.writing = new ObjectWriter(store.git);
    }
    if (this.writing.bytes + bytes > this.room)
      throw new StoreFull(
        `the store is full (\`store_mb\` in [checkpoints] allows ${settings.storeBytes / MIB} MiB)`,
      );
    return this.writing;
  }

  private room = 0;
}

/** 0 in a folder that may not be entered: such a file is left out. */
function sizeOf(inside: Inside, path: BytePath): number {
  try {
    return Number(inside.stats(path)?.size ?? 0);
  } catch (err) {
    if (isDenied(err)) return 0;
    throw err;
  }
}

/** Whether the next look is spared work if the state is saved, though the files are the same. */
const isOther = (state: WorkspaceState, before: WorkspaceState): boolean =>
  state.rules !== before.rules ||
  state.tracked.stamp !== before.tracked.stamp ||
  state.folders.size !== before.folders.size ||
  [...state.folders].some(([path, fact]) => fact !== before.folders.get(path));

const nameBeginsWith = (path: BytePath, beginning: string): boolean =>
  path.startsWith(beginning, path.lastIndexOf('/') + 1);
