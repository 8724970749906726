// What the store knows of one workspace, beside the objects: its last checkpoint and how to see what changed since. If
// it is lost, the next checkpoint reads all files again.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { BytePath } from '../byte-path';
import type { MovedAside } from '../files/moved-aside';
import { noFacts, type TreeFacts, type UsualModes } from '../git/facts';
import type { FolderFact } from '../look/folder-scan';
import { DamagedIndex, StatIndex } from './stat-index';

/** Later than any file's time: then git never takes a file for too new to trust, and reads none. We see to that. */
const INDEX_TIME_S = 4_102_444_800;

export interface Keeper {
  ref: string;
  tip: string;
  /** The checkpoint that it was made for last. */
  commit: string;
}

export interface Rewound {
  /** What was asked for. */
  request: string;
  answer: string;
  /** The request that was given the answer, and is given it again; null: a later process finished it, and none was yet. */
  key: string | null;
}

export interface WorkspaceState {
  cwd: string;
  /** What paths begin with in the index. */
  prefix: BytePath;
  /** The name of the index file; '' for none. */
  index: string;
  last: { commit: string; tree: string } | null;
  facts: TreeFacts;
  files: number;
  bytes: number;
  folders: Map<BytePath, FolderFact>;
  /** Files that changed so shortly before they were read that their times say little: a stamp, or '' to read again. */
  fresh: Map<BytePath, string>;
  /** Which ignore rules held. */
  rules: string;
  /** The state of the user's index, and what it holds that is ignored. */
  tracked: { stamp: string; paths: BytePath[] };
  /** What makes checkpoints stay, by agent. */
  keepers: Map<string, Keeper>;
  /** Why there are none for now, and until when (milliseconds since 1970). */
  off: { reason: string; until: number; /** Under which it is. */ limits?: string; isSlow?: true } | null;
  /** The last rewind, if nothing changed since. */
  rewound: Rewound | null;
  /** What rewinds have moved aside, as long as it is there. */
  aside: MovedAside[];
}

const newState = (cwd: string, prefix: BytePath): WorkspaceState => ({
  cwd,
  prefix,
  index: '',
  last: null,
  facts: noFacts(),
  files: 0,
  bytes: 0,
  folders: new Map(),
  fresh: new Map(),
  rules: '',
  tracked: { stamp: '', paths: [] },
  keepers: new Map(),
  off: null,
  rewound: null,
  aside: [],
});

/** The folder of one workspace in the store. */
export class WorkspaceFolder {
  readonly lock: string;
  readonly journal: string;
  readonly excludeFile: string;

  private constructor(
    readonly path: string,
    /** Real path of the workspace. */
    readonly cwd: string,
  ) {
    this.lock = join(this.path, 'lock');
    this.journal = join(this.path, 'journal.json');
    this.excludeFile = join(this.path, 'exclude');
  }

  static of(storeFolder: string, cwd: string): WorkspaceFolder {
    return new WorkspaceFolder(join(storeFolder, WORKSPACES, workspaceId(cwd)), cwd);
  }

  /** Those of all workspaces that the store knows. */
  static all(storeFolder: string): WorkspaceFolder[] {
    const folder = join(storeFolder, WORKSPACES);
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((name) => {
      const found = new WorkspaceFolder(join(folder, name), '');
      const cwd = found.stored()?.cwd;
      return cwd === undefined ? [] : [new WorkspaceFolder(found.path, cwd)];
    });
  }

  isKnown(): boolean {
    return existsSync(join(this.path, 'state.json'));
  }

  /** Checkpoints of this workspace no longer stay because of these keepers. */
  dropKeepers(isDropped: (keeper: Keeper, agent: string) => boolean): void {
    const state = this.stored();
    if (!state) return;
    const keepers = new Map([...state.keepers].filter(([agent, keeper]) => !isDropped(keeper, agent)));
    if (keepers.size < state.keepers.size) this.save({ ...state, keepers });
  }

  /** What is stored, whatever it is for; undefined if there is nothing. */
  stored(): WorkspaceState | undefined {
    try {
      return decoded(readFileSync(join(this.path, 'state.json'), 'utf8'));
    } catch {
      return undefined;
    }
  }

  /** The state; a new one if there is none, or if the workspace is in another place of another repository by now. */
  load(prefix: BytePath): WorkspaceState {
    const state = this.stored();
    if (state?.cwd !== this.cwd) return newState(this.cwd, prefix);
    return state.prefix === prefix ? state : { ...newState(this.cwd, prefix), keepers: state.keepers };
  }

  indexPath(state: WorkspaceState): string {
    return join(this.path, state.index === '' ? 'no-index' : state.index);
  }

  /** Throws `DamagedIndex`. */
  readIndex(state: WorkspaceState): StatIndex {
    if (state.index === '') return new StatIndex(state.prefix);
    if (!existsSync(this.indexPath(state))) throw new DamagedIndex();
    return new StatIndex(state.prefix, readFileSync(this.indexPath(state)));
  }

  /** Writes the state, and the index if it is another one: both or neither is what the next reader finds. */
  save(state: WorkspaceState, index?: Buffer): WorkspaceState {
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    const next = index ? { ...state, index: `index-${process.pid}-${Date.now().toString(36)}` } : state;
    const temporary = join(this.path, 'state.json.tmp');
    try {
      if (index) {
        writeFileSync(this.indexPath(next), index, { mode: 0o600 });
        utimesSync(this.indexPath(next), INDEX_TIME_S, INDEX_TIME_S);
      }
      writeFileSync(temporary, encoded(next), { mode: 0o600 });
      renameSync(temporary, join(this.path, 'state.json'));
    } catch (err) {
      if (index) rmSync(this.indexPath(next), { force: true });
      throw err;
    }
    if (index)
      for (const name of readdirSync(this.path))
        if (name.startsWith('index-') && name !== next.index) rmSync(join(this.path, name), { force: true });
    return next;
  }

  /** The next checkpoint is like the first one. */
  forget(): void {
    rmSync(join(this.path, 'state.json'), { force: true });
  }
}

export const workspaceId = (cwd: string): string =>
  createHash('sha256').update(cwd).digest('hex').slice(0, 32);

const WORKSPACES = 'workspaces';
/** A map or a set, with a mark at the beginning. */
type List<T> = [mark: string, ...items: T[]];

interface Stored extends Omit<WorkspaceState, 'facts' | 'folders' | 'fresh' | 'keepers'> {
  facts: {
    usual: UsualModes;
    modes: List<[BytePath, number]>;
    empty: List<BytePath>;
    left: List<[BytePath, string]>;
  };
  folders: List<[BytePath, FolderFact]>;
  fresh: List<[BytePath, string]>;
  keepers: List<[string, Keeper]>;
}

const encoded = (state: WorkspaceState): string =>
  JSON.stringify(state, (_key, value: unknown) => {
    if (value instanceof Map) return ['map:', ...(value as Map<unknown, unknown>)];
    if (value instanceof Set) return ['set:', ...(value as Set<unknown>)];
    return value;
  });

/** By their places: a mark says nothing, since a file may have the same name. */
function decoded(json: string): WorkspaceState {
  const { facts, folders, fresh, keepers, ...rest } = JSON.parse(json) as Stored;
  const { usual, modes, empty, left } = facts;
  return {
    ...rest,
    facts: {
      usual,
      modes: new Map(itemsOf(modes)),
      empty: new Set(itemsOf(empty)),
      left: new Map(itemsOf(left)),
    },
    folders: new Map(itemsOf(folders)),
    fresh: new Map(itemsOf(fresh)),
    keepers: new Map(itemsOf(keepers)),
  };
}

const itemsOf = <T>([, ...items]: List<T>): T[] => items;
