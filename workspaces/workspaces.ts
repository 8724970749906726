// The files of the workspaces of one host: what they were after each step, what differs, and how to get back.
import { existsSync, mkdirSync, readdirSync, realpathSync, rmdirSync } from 'node:fs';
import { resolve } from 'node:path';
import type { FileReach } from '../contracts/workspaces/file-reach';
import type { CheckpointOutcome, FileChanges, RewoundFiles } from '../contracts/workspaces/checkpoints';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import { withLock } from '../system/lock';
import { storageReason } from '../system/storage-failure';
import { byBytes, shownPath, type BytePath } from './byte-path';
import { fileChanges, plannedChanges, readSide } from './changes/file-changes';
import { fileDiff, type FileDiff } from './changes/file-diff';
import { refuseForeign } from './changes/foreign-changes';
import { mergeFiles } from './changes/merge-files';
import { ReachInside } from './files/reach-inside';
import { agentsIn, collectStore, joinPacks, releaseAgents, type Cleaned } from './collect-store';
import { GitFailure, NoGit } from './git/git-run';
import { checkpointsThere, isNothing, readCheckpoint, type Recorded } from './git/object-reader';
import { Store } from './git/store';
import { unlessIgnored } from './look/ignored-workspace';
import { missingRoot, standIn } from './look/missing-folder';
import { surroundingsOf, type Surroundings } from './look/surroundings';
import { checkpointsOf, keepFor, refuseMoved } from './record/keepers';
import { notRestoredIn, skippedIn } from './record/checkpoint-parts';
import { CheckpointsOff, StoreFull, WorkspaceSlow } from './record/take-checkpoint';
import { WorkspaceFolder } from './record/workspace-state';
import type {
  AppliedChanges,
  ApplyChoice,
  CheckoutChoice,
  RewindChoice,
  WorkspaceOf,
  WorkspacesOptions,
} from './workspace-choices';
import { begunBy, WorkspaceInUse } from './workspace-in-use';

const MAX_PACKS = 64;
/** After so many more packs a join that failed is tried again: each try may read and write most of the store. */
const RETRY_PACKS = 16;

export class Workspaces {
  private readonly store: Store;
  /** The number of packs from which on they are joined. */
  private tidyAt = MAX_PACKS;

  constructor(private readonly options: WorkspacesOptions) {
    this.store = new Store(options.folder);
  }

  /** Records what the files are now. Never throws: `off` and `missing` say why there is none. */
  async checkpoint({ agent, ...of }: WorkspaceOf): Promise<CheckpointOutcome> {
    try {
      if (this.options.settings.enabled === 'off')
        throw new CheckpointsOff('they are off on this host (`enabled` in [checkpoints])');
      return await this.using({ agent, ...of }, async (use) => {
        await use.finishBegun();
        const { state, changes, skipped } = await use.take(agent);
        const { files, bytes, last } = state;
        this.tidy();
        return { state: 'kept', hash: last?.commit ?? '', files, bytes, changes, ...skippedIn(skipped) };
      });
    } catch (err) {
      return this.without(err);
    }
  }

  /** Finishes what a killed process had begun, in all workspaces at once. Never throws: the log says what could not be. */
  async finishBegun(): Promise<void> {
    await Promise.all(
      WorkspaceFolder.all(this.options.folder).map(async ({ cwd, journal }) => {
        try {
          const agent = begunBy(journal);
          // A folder that was removed since is made again by the next rewind alone.
          if (agent !== undefined && existsSync(cwd))
            await this.using({ cwd, agent }, (use) => use.finishBegun());
        } catch (err) {
          this.options.log('a rewind that had begun could not be finished yet', {
            cwd,
            error: reasonOf(err),
          });
        }
      }),
    );
  }

  /** What differs between two checkpoints; `from: null`: everything is new. Throws `checkpoint_missing`. */
  async changes({ from, to, max }: { from: string | null; to: string; max?: number }): Promise<FileChanges> {
    return this.orFail(async () => fileChanges(this.store.git, await this.sides(from, to), max));
  }

  /** The same as a unified diff, which is to be made inert before it is shown. Throws `checkpoint_missing`. */
  async diff(choice: {
    from: string | null;
    to: string;
    maxBytes: number;
    paths?: readonly string[];
  }): Promise<FileDiff> {
    return this.orFail(async () =>
      fileDiff(this.store.git, await this.sides(choice.from, choice.to), choice),
    );
  }

  /**
   * Makes the files what they were. Throws `workspace_changed` if files that it would change were changed by somebody
   * else, unless forced: they are kept in the checkpoint `before`. Throws `checkpoint_missing`. Repeated under its key, with
   * no change since, it gives the same answer.
   */
  rewind(choice: RewindChoice): Promise<RewoundFiles> {
    return this.orFail(() => this.rewindFiles(choice));
  }

  /**
   * Fills a new or empty folder with the files of a checkpoint. Throws `checkpoint_missing`, and `invalid_input` for a
   * folder with something in it. Asked again it does nothing.
   * @returns the checkpoint that the folder is now, which lacks what may not be read any more
   */
  checkout(choice: CheckoutChoice): Promise<string> {
    return this.orFail(() => this.checkOut(choice));
  }

  /**
   * Brings what changed from `base` to `theirs` into a workspace, whatever changed there meanwhile. With conflicts nothing
   * is changed. Throws `checkpoint_missing`. Repeated under its key, with no change since, it gives the same answer.
   */
  applyChanges(choice: ApplyChoice): Promise<AppliedChanges> {
    return this.orFail(() => this.merge(choice));
  }

  /** Keeps checkpoints of another agent for this one, too. Throws `checkpoint_missing`. */
  async keep({ agent, hashes }: { agent: string; hashes: readonly string[] }): Promise<void> {
    const { git } = this.store;
    // Looked up while nothing can be removed: no ref may lead to what is gone.
    await this.store.adding(async () =>
      keepFor(git, agent, await Promise.all(hashes.map((hash) => readCheckpoint(git, hash)))),
    );
  }

  /** The same of as many as are there. */
  async keepKnown({ agent, hashes }: { agent: string; hashes: readonly string[] }): Promise<void> {
    this.store.prepare();
    const { git } = this.store;
    await this.store.adding(async () => keepFor(git, agent, await checkpointsThere(git, hashes)));
  }

  /** The files that a checkpoint does not hold: they were too large or could not be read. Throws `checkpoint_missing`. */
  leftOut(hash: string): Promise<string[]> {
    return this.orFail(async () =>
      shownPaths((await readCheckpoint(this.store.git, hash)).facts.left.keys()),
    );
  }

  /** The agents for which it keeps checkpoints. */
  async agents(): Promise<string[]> {
    this.store.prepare();
    return [...(await agentsIn(this.cleaned))];
  }

  /** The checkpoints that the store keeps for an agent, the last ones first. */
  keeps(agent: string): Promise<string[]> {
    this.store.prepare();
    return checkpointsOf(this.store.git, agent);
  }

  /**
   * Removes what no living agent can name, and packs the rest anew: work for the whole disk. Checkpoints wait meanwhile, for
   * at most five seconds. `isLiving` is asked again about those that are gone when their checkpoints are about to go: they may
   * have begun again under their id.
   * @returns the number of agents whose checkpoints were removed, and the bytes that this freed
   */
  async collect({ isLiving }: { isLiving: (agent: string) => boolean | Promise<boolean> }): Promise<{
    removed: number;
    bytes: number;
  }> {
    this.store.prepare();
    const removed = await releaseAgents(this.cleaned, isLiving);
    return { removed, ...(await collectStore(this.cleaned)) };
  }

  /** The size of the store. */
  bytes(): number {
    return this.store.bytes();
  }

  private get cleaned(): Cleaned {
    return { store: this.store, log: this.options.log };
  }

  private async rewindFiles(choice: RewindChoice): Promise<RewoundFiles> {
    const { agent, key, dryRun, onApplied } = choice;
    const request = JSON.stringify(['rewind', agent, choice.to, choice.expected]);
    const to = await readCheckpoint(this.store.git, choice.to);
    return this.usingOrMaking(choice, async (use) => {
      if (!choice.force) await refuseMoved(this.store.git, { agent, hash: to.hash, root: use.folder.cwd });
      await use.finishBegun({ request, force: choice.force, dryRun });
      const { state } = await use.take(agent);
      const given = dryRun ? undefined : use.answerOf(state, { request, key });
      if (given) {
        await onApplied?.();
        return given as RewoundFiles;
      }
      const before = await readCheckpoint(this.store.git, state.last?.commit ?? '');
      // Nothing has been changed since the agent itself was rewound: who asks may not know of that. And where nothing is
      // left, nothing of anybody can be overwritten.
      const isUnchanged = isOwn(state.rewound, agent) || isNothing(before);
      const expected = isUnchanged ? before.hash : choice.expected;
      const reachable = await use.withUnreachable(agent, before, to);
      const target = await use.withIgnored(agent, before, reachable.target);
      if (!choice.force) await refuseForeign(this.store.git, { ...choice, expected }, [before, target]);
      const { kinds, notRestored } = await plannedChanges(this.store.git, before, target);
      const changes = await fileChanges(this.store.git, [before, target], undefined, kinds);
      const answer: RewoundFiles = {
        ...{ hash: target.hash, before: before.hash, changes },
        ...notRestoredIn(
          // What rewinds have moved aside belongs to none of the states.
          [...notRestored, ...reachable.kept]
            .filter(([path]) => !state.aside.some(({ to }) => to === path))
            .map(([path, why]) => ({ path: shownPath(path), why })),
        ),
      };
      if (dryRun) return answer;
      const moved = await use.move({ agent, before, to: target, request, key, answer, onApplied });
      return { ...answer, ...moved };
    });
  }

  private async checkOut({ hash, folder, agent, of }: CheckoutChoice): Promise<string> {
    const recorded = await readCheckpoint(this.store.git, hash);
    const request = JSON.stringify(['checkout', agent, hash]);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return this.using({ cwd: folder, agent }, async (use) => {
      if (readdirSync(folder).length > 0) {
        await use.finishBegun();
        const done = use.answerTo(request);
        if (done !== undefined) return (JSON.parse(done) as { base: string }).base;
        throw new HoldfastError('invalid_input', {
          what: 'The folder to check out to',
          got: folder,
          allowed: 'a new or an empty folder',
        });
      }
      // What the store says here is of an earlier folder of this name, which may have been removed since.
      use.forget();
      const { state } = await use.take(agent, { usual: recorded.facts.usual });
      const before = await readCheckpoint(this.store.git, state.last?.commit ?? '');
      const there = realIfThere(of.cwd);
      const to = await use.readable(agent, recorded, new ReachInside(this.options.reachOf(of.owner), there));
      await use.move({ agent, before, to, request, answer: { base: to.hash } });
      return to.hash;
    });
  }

  private async merge(choice: ApplyChoice): Promise<AppliedChanges> {
    const { agent, key, dryRun } = choice;
    const request = JSON.stringify(['apply', agent, choice.base, choice.theirs]);
    const { git } = this.store;
    const [base, theirs] = await this.sides(choice.base, choice.theirs);
    const leftOut = shownPaths(theirs.facts.left.keys());
    return this.using(choice, async (use) => {
      await use.finishBegun();
      const { state } = await use.take(agent);
      const given = dryRun ? undefined : use.answerOf(state, { request, key });
      if (given) return { ...(given as AppliedChanges), leftOut };
      const ours = await readCheckpoint(git, state.last?.commit ?? '');
      const sides = { base, ours, theirs };
      const { conflicts, ...merged } = await mergeFiles(git, sides, {
        scratch: use.folder.path,
        reach: use.reach,
      });
      const hash = conflicts.length > 0 ? ours.hash : await use.add(agent, ours, merged);
      const to = await readCheckpoint(git, hash);
      const applied = await fileChanges(git, [ours, to]);
      const answer: AppliedChanges = { applied, conflicts, leftOut, hash };
      if (dryRun || hash === ours.hash) return answer;
      return { ...answer, ...(await use.move({ agent, before: ours, to, request, key, answer })) };
    });
  }

  private sides(from: string | null, to: string): Promise<[Recorded, Recorded]> {
    const { git } = this.store;
    return Promise.all([readSide(git, from), readCheckpoint(git, to)]);
  }

  /** Throws errors of the catalogue, and what `checkpoint` distinguishes. */
  private async using<T>(of: WorkspaceOf, work: (use: WorkspaceInUse) => Promise<T>): Promise<T> {
    if (process.platform !== 'linux') throw new CheckpointsOff('checkpoints need Linux');
    this.store.prepare();
    const reach = this.reachOf(of);
    return this.locked({ around: surroundingsOf(of.cwd, reach), reach }, work);
  }

  private reachOf({ agent, owner = agent }: Pick<WorkspaceOf, 'agent' | 'owner'>): FileReach {
    return this.options.reachOf(owner);
  }

  /** The same where the folder may have been removed: then it is made again, or nothing stands in for it for a look. */
  private async usingOrMaking<T>(
    choice: RewindChoice,
    work: (use: WorkspaceInUse) => Promise<T>,
  ): Promise<T> {
    const root = missingRoot(choice.cwd);
    if (root === undefined) return this.using(choice, work);
    const reach = this.reachOf(choice);
    refuseOutside(root, reach);
    const { path } = WorkspaceFolder.of(this.options.folder, root);
    if (choice.dryRun) return this.locked({ around: standIn(path), reach, root }, work);
    mkdirSync(root, { mode: 0o700 });
    try {
      return await this.using(choice, work);
    } catch (err) {
      // A refusal changes nothing. What has begun stays.
      if (readdirSync(root).length === 0) rmdirSync(root);
      throw err;
    }
  }

  private locked<T>(
    { around, reach, root = around.root }: { around: Surroundings; reach: FileReach; root?: string },
    work: (use: WorkspaceInUse) => Promise<T>,
  ): Promise<T> {
    const { folder, settings, log } = this.options;
    refuseOutside(root, reach);
    const workspace = WorkspaceFolder.of(folder, root);
    const choice = { store: this.store, settings, reach: new ReachInside(reach, root), log };
    return withLock(workspace.lock, async () => {
      const heard = await unlessIgnored(this.store.git, around, workspace.path);
      return work(new WorkspaceInUse(workspace, heard, choice));
    });
  }

  /** For callers that need an outcome: throws errors of the catalogue only. */
  private async orFail<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (err) {
      if (err instanceof HoldfastError) throw err;
      if (err instanceof GitFailure) this.store.sweep();
      throw new HoldfastError('checkpoint_failed', { reason: storageReason(err) });
    }
  }

  /** Each checkpoint with changes is a pack: many of them make git slow. Not waited for. */
  private tidy(): void {
    if (this.store.packs() < this.tidyAt) return;
    // Not twice at once.
    this.tidyAt = Infinity;
    joinPacks(this.store).then(
      () => (this.tidyAt = MAX_PACKS),
      (err: unknown) => {
        // A git before 2.33 cannot, so it is not asked again; other reasons may pass.
        const isTooOld = err instanceof GitFailure && /unknown option/.test(err.said);
        if (!isTooOld) this.tidyAt = this.store.packs() + RETRY_PACKS;
        this.options.log('packs could not be joined', { error: reasonOf(err) });
      },
    );
  }

  private without(err: unknown): CheckpointOutcome {
    if (err instanceof CheckpointsOff || err instanceof NoGit) return { state: 'off', reason: err.message };
    if (err instanceof WorkspaceSlow) return { state: 'missing', reason: err.message };
    if (err instanceof GitFailure) this.store.sweep();
    const reason = err instanceof StoreFull ? err.message : storageReason(err);
    this.options.log('a checkpoint could not be taken', { error: reasonOf(err) });
    return { state: 'missing', reason };
  }
}

/** A folder that is not there has no links in it. */
function realIfThere(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** In the data folder, going back would undo records of what has run. */
function refuseOutside(root: string, reach: FileReach): void {
  if (reach.access(root) === 'write') return;
  throw new CheckpointsOff(`${root} has none: ${reach.outside}`);
}

const shownPaths = (paths: Iterable<BytePath>): string[] => [...paths].sort(byBytes).map(shownPath);

const isOwn = (rewound: { request: string } | null, agent: string): boolean =>
  rewound !== null && (JSON.parse(rewound.request) as unknown[])[1] === agent;
