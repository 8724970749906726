// The folders of agents that work in one of their own. Each has a record beside it, which says how far its making or its
// end has come: repeated after a death in the middle, either goes on.
import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { FileReach } from '../../contracts/workspaces/file-reach';
import type { LeftWorkspace, OwnWorkspace } from '../../contracts/workspaces/own-workspaces';
import type { LeaveWorkspaceInput, MakeWorkspaceInput } from '../../contracts/workspaces/requests-to-hosts';
import { readJson, writeJson } from '../../system/json-file';
import { withLock } from '../../system/lock';
import type { Workspaces } from '../workspaces';
import { repositoryIn, type Repository } from '../look/repository';
import { removeTree } from './remove-tree';
import { addWorktree, moveWorktree, removeWorktree, type Worktree } from './worktree';

interface TreeRecord {
  agent: string;
  /** Which incarnation of the agent. */
  born: string;
  base: string;
  /** Who is to get what it leaves; null: no one, or no one any more. If the folder is there, it stays. */
  for: string | null;
  worktree?: Worktree;
  /** Its files are all there. */
  isMade?: true;
  /** What it left. Its heir keeps that, so the folder is no longer needed. */
  left?: LeftWorkspace;
}

/** One incarnation of an agent. */
type Incarnation = Pick<TreeRecord, 'agent' | 'born'>;

/** The log names no more files. */
const NAMED_FILES = 10;

export interface OwnTreesOptions {
  workspaces: Workspaces;
  /** Where they are, and that of an agent. */
  folder: string;
  folderOf: (agent: string) => string;
  reachOf: (agent: string) => FileReach;
  /** Whether its shells run in a sandbox. */
  isConfined: boolean;
  log: (message: string, facts: object) => void;
}

export class OwnTrees {
  constructor(private readonly options: OwnTreesOptions) {}

  /**
   * Makes the folder of an agent: a copy of `of` as it is, or as it was at the checkpoint `hash`; a worktree where `of`
   * is the top of a git repository. Repeated, it answers with the same. Throws `workspace_failed` and
   * `checkpoint_missing`.
   */
  make(wanted: Omit<MakeWorkspaceInput, 'of'> & { of: string }): Promise<OwnWorkspace> {
    return this.alone(wanted.agent, (folder) => this.makeIn(folder, wanted));
  }

  /**
   * The last checkpoint of an agent's folder, and what differs from the first. For somebody: they keep the checkpoints, and
   * the folder is removed, unless it has files that no checkpoint holds. Throws `workspace_failed`; then the folder stays.
   */
  leave({ agent, born, base, for: heir }: LeaveWorkspaceInput): Promise<LeftWorkspace> {
    return this.alone(agent, async (folder) => {
      const record = this.read(folder);
      if (!record || (born ?? record.born) !== record.born)
        throw failed(`${folder} was not made for ${agent}, or is that of a later agent of this name`);
      // The record stays: a repetition answers with it.
      const left = record.left ?? (await this.leaveIn(folder, record, { base, heir }));
      if (heir !== null && left.folder === undefined)
        // A sweep tries again: what it left is kept, and its parent is to hear of it.
        await remove(folder, record.worktree).catch((err: unknown) =>
          this.options.log('the folder of an agent could not be removed', { agent, error: reasonOf(err) }),
        );
      return left;
    });
  }

  /** Incarnations of agents whose folders are not removed yet, though somebody gets what they leave. */
  unleft(): Incarnation[] {
    const { folder } = this.options;
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((name) => {
      const record = name.endsWith('.json') ? readJson<TreeRecord>(join(folder, name)) : undefined;
      if (!record || record.for === null) return [];
      const { agent, born, left } = record;
      return left && !existsSync(this.options.folderOf(agent)) ? [] : [{ agent, born }];
    });
  }

  /** Does what an agent that has ended did not: its heir keeps the files, and the folder is removed. Throws like `leave`. */
  async sweep({ agent, born }: Incarnation): Promise<void> {
    await this.alone(agent, async (folder) => {
      const record = this.read(folder);
      if (record?.born !== born || record.for === null) return;
      const stays = record.isMade && existsSync(folder) && (await this.handOver(folder, record, record.for));
      if (!stays) await remove(folder, record.worktree);
      this.write(folder, { ...record, for: null });
    });
  }

  private async makeIn(
    folder: string,
    { agent, born, of, owner, hash, for: heir }: Omit<MakeWorkspaceInput, 'of'> & { of: string },
  ): Promise<OwnWorkspace> {
    const { workspaces, reachOf } = this.options;
    const known = this.read(folder);
    const own = known?.born === born ? known : undefined;
    if (own?.isMade) return { folder: realpathSync(folder), base: own.base };
    // Of an agent of this name that ended before: somebody may still want what is there.
    if (known && !own && existsSync(folder)) moveAside(folder, known.worktree);
    const from = own?.base ?? hash ?? (await this.now(of, agent, owner));
    const record: TreeRecord = { agent, born, base: from, for: heir };
    this.write(folder, record);
    await removeTree(folder, { unseen: true }).catch((err: unknown) => {
      throw failed(err);
    });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const base = await workspaces.checkout({ hash: from, folder, agent, of: { cwd: of, owner } });
    const repository = existsSync(of) ? repositoryIn(realpathSync(of), reachOf(owner)) : undefined;
    const worktree = worktreeOf(repository, folder, agent);
    // A sandbox covers it, and needs a place for that.
    if (!worktree && this.options.isConfined) mkdirSync(join(folder, '.git'), { recursive: true });
    this.write(folder, { ...record, base, ...(worktree && { worktree }), isMade: true });
    return { folder: realpathSync(folder), base };
  }

  private async leaveIn(
    folder: string,
    record: TreeRecord,
    { base, heir }: { base: string; heir: string | null },
  ): Promise<LeftWorkspace> {
    const { workspaces } = this.options;
    const { agent } = record;
    if (!existsSync(folder)) throw failed(`${folder} does not exist`);
    const hash = await this.now(folder, agent);
    const { counts } = await workspaces.changes({ from: base, to: hash, max: 0 });
    if (heir !== null) await workspaces.keep({ agent: heir, hashes: [base, hash] });
    const stays = heir !== null && (await this.holdsMore(folder, agent, hash));
    const left = { base, hash, counts, ...(stays && { folder: realpathSync(folder) }) };
    this.write(folder, { ...record, left, for: stays ? null : heir });
    return left;
  }

  /** Its first checkpoint may have been removed from the store: it is not asked any more what differs from that. */
  private async handOver(folder: string, { agent, base, left }: TreeRecord, heir: string): Promise<boolean> {
    const hash = left?.hash ?? (await this.now(folder, agent));
    await this.options.workspaces.keepKnown({ agent: heir, hashes: [base, hash] });
    return this.holdsMore(folder, agent, hash);
  }

  /** Whether it has files that its last checkpoint does not hold: then it has to stay. */
  private async holdsMore(folder: string, agent: string, hash: string): Promise<boolean> {
    const { workspaces, log } = this.options;
    const files = await workspaces.leftOut(hash);
    if (files.length === 0) return false;
    const first = files.slice(0, NAMED_FILES);
    log('the folder of an agent stays: no checkpoint holds these files', {
      agent,
      folder,
      first,
      count: files.length,
    });
    return true;
  }

  /** One call at a time for each agent, in the order of their locks: a later agent of the name may come meanwhile. */
  private alone<T>(agent: string, work: (folder: string) => Promise<T>): Promise<T> {
    const folder = this.options.folderOf(agent);
    return withLock(`${folder}.lock`, () => work(folder));
  }

  private async now(folder: string, agent: string, owner = agent): Promise<string> {
    const outcome = await this.options.workspaces.checkpoint({ cwd: folder, agent, owner });
    if (outcome.state === 'kept') return outcome.hash;
    throw failed(`${folder} has no checkpoint: ${outcome.reason}`);
  }

  private read(folder: string): TreeRecord | undefined {
    return readJson<TreeRecord>(recordOf(folder));
  }

  private write(folder: string, record: TreeRecord): void {
    mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
    writeJson(recordOf(folder), record);
  }
}

async function remove(folder: string, worktree: Worktree | undefined): Promise<void> {
  if (worktree) removeWorktree(worktree, folder);
  await removeTree(folder, { unseen: false });
}

function moveAside(folder: string, worktree: Worktree | undefined): void {
  const aside = unusedBeside(folder);
  if (worktree) moveWorktree(worktree, folder, aside);
  renameSync(folder, aside);
}

function unusedBeside(folder: string): string {
  for (let n = 1; ; n++) if (!existsSync(`${folder}.${n}`)) return `${folder}.${n}`;
}

const recordOf = (folder: string): string => `${folder}.json`;

/** Without one, the folder is a plain copy: an agent works there as well. */
function worktreeOf(repository: Repository | undefined, folder: string, agent: string): Worktree | undefined {
  try {
    return repository && addWorktree(repository, folder, `holdfast-${agent}`);
  } catch {
    return undefined;
  }
}

const failed = (reason: unknown): HoldfastError =>
  new HoldfastError('workspace_failed', { reason: reasonOf(reason) });
