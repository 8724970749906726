// One workspace while it is locked: records its files, and moves them from one recorded state to another one, whole even
// if this process is killed: what is to be done is written down first, and the next one that uses the workspace does it.
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import type { RewoundFiles } from '../contracts/workspaces/checkpoints';
import { crashPoint } from '../system/faults/crash-point';
import { kindsOfChanges } from './changes/file-changes';
import { changedByOthers, changedSince, namedPaths } from './changes/foreign-changes';
import type { Merged } from './changes/merge-files';
import { applyPlan, temporaryPrefix } from './files/apply-plan';
import { planFiles, type FilePlan } from './files/file-plan';
import { Inside } from './files/inside';
import { comingBack, movedFor, type MovedAside } from './files/moved-aside';
import type { ReachInside } from './files/reach-inside';
import { factsKeeping, factsMessage, factsWith } from './git/facts';
import {
  filesIn,
  isNothing,
  ObjectReader,
  readCheckpoint,
  treeDifferences,
  type Recorded,
  type TreeDifference,
  type TreeEntry,
} from './git/object-reader';
import { ObjectWriter, type TreeChange } from './git/object-writer';
import { Breather } from '../system/processes/breather';
import { ignoredThen } from './look/ignored-then';
import type { Surroundings } from './look/surroundings';
import { keeperFor } from './record/keepers';
import { movedAsideIn } from './record/checkpoint-parts';
import { takeCheckpoint, type TakeChoice, type Taken } from './record/take-checkpoint';
import type { WorkspaceFolder, WorkspaceState } from './record/workspace-state';
import { foldersOn, type BytePath } from './byte-path';
import type { WorkspacesOptions } from './workspace-choices';

interface Journal {
  id: string;
  agent: string;
  before: string;
  to: string;
  /** What was asked for, and what is answered when it is done. */
  request: string;
  answer: object;
}

/** The key of a request that names none: nothing repeats it. */
const ONCE = '';

export type Moved = Pick<RewoundFiles, 'hash' | 'movedAside'>;

export interface Move extends Pick<Journal, 'agent' | 'request' | 'answer'> {
  key?: string | undefined;
  before: Recorded;
  to: Recorded;
  onApplied?: (() => Promise<void> | void) | undefined;
}

export class WorkspaceInUse {
  constructor(
    readonly folder: WorkspaceFolder,
    private readonly around: Surroundings,
    private readonly choice: Omit<TakeChoice, 'agent'> & Pick<WorkspacesOptions, 'log'>,
  ) {}

  get reach(): ReachInside {
    return this.choice.reach;
  }

  take(agent: string, more: Pick<TakeChoice, 'also' | 'without' | 'usual'> = {}): Promise<Taken> {
    return takeCheckpoint(this.folder, this.around, { ...this.choice, agent, ...more });
  }

  /**
   * To be called first: finishes what a killed process had begun, or gives it up if that cannot be done. What somebody has
   * changed since stays as it is, unless the same is asked for again with force. Asked for again without, throws
   * `workspace_changed`.
   */
  async finishBegun(asked: { request?: string; force?: boolean; dryRun?: boolean } = {}): Promise<void> {
    const journal = readJournal(this.folder.journal);
    if (!journal || this.around.root !== this.folder.cwd) return;
    const { git } = this.choice.store;
    // What is there is kept.
    const { state } = await this.take(journal.agent, { without: temporaryPrefix(journal.id) });
    const last = state.last?.commit ?? '';
    const states = await Promise.all([
      readCheckpoint(git, journal.before),
      readCheckpoint(git, journal.to),
      readCheckpoint(git, last),
    ]).catch(async (err: unknown) => {
      if (!isLost(err)) throw err;
      this.giveUp(journal, err);
      // The store may have lost the present state as well: then it is recorded anew.
      await readCheckpoint(git, last).catch(() => this.folder.forget());
    });
    if (!states) return;
    const [before, to, now] = states;
    if (isNothing(now) && now.hash !== before.hash && now.hash !== to.hash)
      // Somebody has removed all files: no half of it is left to be made whole.
      return rmSync(this.folder.journal, { force: true });
    const theirs = await changedSince(git, { before, to, now });
    if (theirs.size > 0 && asked.request === journal.request) {
      if (!asked.force) throw changedByOthers(theirs, { begun: true });
      if (!asked.dryRun) await this.complete(journal);
      return;
    }
    try {
      await this.complete(journal, { theirs });
    } catch (err) {
      // The same request learns what is in the way. Everything else goes on.
      if (asked.request === journal.request || !isInTheWay(err)) throw err;
      return this.giveUp(journal, err);
    }
    if (theirs.size > 0)
      this.choice.log('files that somebody has changed since a rewind began stay as they are', {
        agent: journal.agent,
        ...namedPaths(theirs),
      });
  }

  /** What was answered if this was the last thing that was done, whatever changed since. */
  answerTo(request: string): string | undefined {
    const { rewound } = this.folder.load(this.around.prefix);
    return rewound?.request === request ? rewound.answer : undefined;
  }

  /**
   * What the last rewind was answered, if this is the same request again, or an equal one of which no caller has been given the
   * answer: undefined otherwise, since the files were already like this before it.
   */
  answerOf(
    state: WorkspaceState,
    { request, key = ONCE }: { request: string; key?: string | undefined },
  ): unknown {
    const { rewound } = state;
    if (rewound?.request !== request) return undefined;
    if (rewound.key !== null && (key === ONCE || rewound.key !== key)) return undefined;
    this.folder.save({ ...state, rewound: { ...rewound, key } });
    return JSON.parse(rewound.answer);
  }

  /** Nothing is known of the folder then, and nothing has begun. */
  forget(): void {
    rmSync(this.folder.journal, { force: true });
    this.folder.forget();
  }

  /** Adds a state to the store that is not that of the files. */
  async add(
    agent: string,
    base: Recorded,
    { changes, contents, facts }: Omit<Merged, 'conflicts'>,
  ): Promise<string> {
    const { store } = this.choice;
    return store.adding(async () => {
      const state = this.folder.load(this.around.prefix);
      const keeper = keeperFor(state, agent).plan;
      const writer = new ObjectWriter(store.git);
      try {
        for (const content of contents) await writer.blob(content);
        const deletedFirst = changes.toSorted(([, a], [, b]) => Number(a !== null) - Number(b !== null));
        const message = factsMessage(facts);
        const { commit, tip } = await writer.finish({
          base: base.tree,
          changes: deletedFirst,
          message,
          keeper,
        });
        // It made this one stay; the next checkpoint of the same files is to be made to stay as well.
        const keepers = new Map(state.keepers).set(agent, { ref: keeper.ref, tip, commit });
        this.folder.save({ ...state, keepers });
        return commit;
      } finally {
        writer.abandon();
      }
    });
  }

  /** A state to bring back, but for what the agent may not change, which stays as it is in `before`. */
  async withUnreachable(
    agent: string,
    before: Recorded,
    to: Recorded,
  ): Promise<{ target: Recorded; kept: ReadonlyMap<BytePath, string> }> {
    const { git } = this.choice.store;
    const kinds = await kindsOfChanges(git, before, to);
    const paths = new Set([...kinds.keys()].filter((path) => !this.mayChange(path)));
    const why = `${this.reach.limit} keeps the agent from changing it`;
    const kept = new Map([...paths].map((path) => [path, why]));
    if (kept.size === 0) return { target: to, kept };
    const differences = await treeDifferences(git, before.tree, to.tree);
    const changes = differences.filter(({ path }) => kept.has(path)).map(toBefore);
    const facts = factsKeeping(to.facts, { of: before.facts, paths, changes });
    return {
      target: await readCheckpoint(git, await this.add(agent, to, { changes, contents: [], facts })),
      kept,
    };
  }

  /** A state to bring back, with those files of `before` that its ignore rules hide: it says nothing of them. */
  async withIgnored(agent: string, before: Recorded, to: Recorded): Promise<Recorded> {
    const { store, settings } = this.choice;
    const differences = await treeDifferences(store.git, before.tree, to.tree);
    const written = new Set(differences.flatMap(({ path, after }) => (after === null ? [] : [path])));
    const gone = new Map<BytePath, TreeEntry>();
    for (const { path, before: entry, after } of differences)
      if (entry !== null && after === null && !foldersOn(path).some((folder) => written.has(folder)))
        gone.set(path, entry);
    if (gone.size === 0) return to;
    const ignored = await ignoredThen(store.git, to, [...gone.keys()], {
      around: this.around,
      excludeFile: this.folder.excludeFile,
      include: settings.include,
      scratch: this.folder.path,
    });
    const changes = [...gone].filter(([path]) => ignored.has(path));
    if (changes.length === 0) return to;
    const facts = factsWith(to.facts, { of: before.facts, changes });
    return readCheckpoint(store.git, await this.add(agent, to, { changes, contents: [], facts }));
  }

  /** Writes down what is to be done, and does it. Returns the state that the files have then, and what was in the way. */
  async move({ agent, before, to, request, key = ONCE, answer, onApplied }: Move): Promise<Moved> {
    const id = randomBytes(6).toString('hex');
    const journal = { id, agent, before: before.hash, to: to.hash, request, answer };
    writeJournal(this.folder.journal, journal);
    crashPoint('rewind-journalled');
    return this.complete(journal, { key, onApplied });
  }

  /** A state without what may not be read where it was recorded. */
  async readable(agent: string, recorded: Recorded, there: ReachInside): Promise<Recorded> {
    const { git } = this.choice.store;
    const left = new Set((await filesIn(git, recorded.tree)).filter((path) => !there.mayRead(path)));
    const { usual, modes, empty } = recorded.facts;
    const isLeft = (path: BytePath): boolean => !there.mayRead(path.replace(/\/$/, ''));
    if (left.size === 0 && ![...modes.keys(), ...empty].some(isLeft)) return recorded;
    const facts = {
      ...recorded.facts,
      usual,
      modes: new Map([...modes].filter(([path]) => !isLeft(path))),
      empty: new Set([...empty].filter((path) => !isLeft(path))),
    };
    const changes = [...left].map((path): TreeChange => [path, null]);
    return readCheckpoint(git, await this.add(agent, recorded, { changes, contents: [], facts }));
  }

  /** A path of `kindsOfChanges`: that of a folder ends with a slash. */
  private mayChange(path: BytePath): boolean {
    const { reach } = this.choice;
    return path.endsWith('/') ? reach.mayChangeIn(path.slice(0, -1)) : reach.mayChange(path);
  }

  /** What it has done stays. A workspace whose files cannot be moved is still to be recorded. */
  private giveUp({ agent }: Journal, err: unknown): void {
    rmSync(this.folder.journal, { force: true });
    const error = reasonOf(err);
    this.choice.log('a rewind that had begun cannot be finished and is given up', { agent, error });
  }

  /**
   * @param theirs paths that are left alone
   * @param key of the request that is given the answer; null: none is waiting for it
   */
  private async complete(
    journal: Journal,
    {
      onApplied,
      theirs = new Set(),
      key = null,
    }: Pick<Move, 'onApplied'> & { theirs?: ReadonlySet<BytePath>; key?: string | null } = {},
  ): Promise<Moved> {
    const { folder, choice } = this;
    const { git } = choice.store;
    const { last, aside } = folder.load(this.around.prefix);
    const [before, to, now] = await Promise.all([
      readCheckpoint(git, journal.before),
      readCheckpoint(git, journal.to),
      readCheckpoint(git, last?.commit ?? journal.before),
    ]);
    const planned = await kindsOfChanges(git, before, to);
    const only = {
      paths: new Set([...planned.keys()].filter((path) => !theirs.has(path) && this.mayChange(path))),
      before,
    };
    const plan = await planFiles(git, [now, to], only);
    const { moved, known } = await this.apply(plan, to, {
      ...{ id: journal.id, aside, paths: only.paths },
    });
    crashPoint('rewind-applied');
    const { state } = await this.take(journal.agent, { also: plan.write.map(({ path }) => path) });
    const done = { hash: state.last?.commit ?? '', ...movedAsideIn(moved) };
    const answer = JSON.stringify({ ...journal.answer, ...done });
    // Not all of it was done: no later request is answered as if it were.
    const isWhole = theirs.size === 0;
    const rewound = isWhole ? { request: journal.request, answer, key } : null;
    folder.save({ ...state, rewound, aside: known });
    crashPoint('rewind-recorded');
    if (isWhole) await onApplied?.();
    rmSync(folder.journal, { force: true });
    return done;
  }

  /** Returns what this rewind has moved aside, and all that is aside now. */
  private async apply(
    plan: FilePlan,
    to: Recorded,
    { id, aside, paths }: { id: string; aside: readonly MovedAside[]; paths: ReadonlySet<BytePath> },
  ): Promise<{ moved: MovedAside[]; known: MovedAside[] }> {
    const { store, reach } = this.choice;
    const { git } = store;
    using inside = new Inside(this.around.root);
    using objects = new ObjectReader(git);
    const back = await comingBack(plan, aside, { git, to, inside, reach });
    await applyPlan(plan, { inside, reach, objects, breather: new Breather(), id, back });
    const moved = movedFor(paths, id, inside);
    const isNew = (one: MovedAside): boolean => !moved.some((other) => other.to === one.to);
    return { moved, known: [...aside.filter((one) => isNew(one) && inside.stats(one.to)), ...moved] };
  }
}

const toBefore = ({ path, before }: TreeDifference): TreeChange => [path, before];

const isLost = (err: unknown): boolean => err instanceof HoldfastError && err.code === 'checkpoint_missing';

/** Whether something about the files themselves keeps them from being changed, which does not pass like a full disk. */
const isInTheWay = (err: unknown): boolean => IN_THE_WAY.has((err as NodeJS.ErrnoException).code ?? '');
const IN_THE_WAY = new Set(['EACCES', 'EPERM', 'EBUSY', 'EROFS', 'ENAMETOOLONG']);

function readJournal(path: string): Journal | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Journal;
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw err;
  }
}

/** The agent whose rewind has begun; undefined if none has. */
export const begunBy = (journal: string): string | undefined => readJournal(journal)?.agent;

/** Durable when it returns. */
function writeJournal(path: string, journal: Journal): void {
  const temporary = `${path}.tmp`;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(temporary, JSON.stringify(journal), { mode: 0o600, flush: true });
  renameSync(temporary, path);
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
