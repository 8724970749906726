// The folders of agents that work in one of their own. Each has a record beside it, which says how far its making or its
// end has come: repeated after a death in the middle, either goes on.
import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import type { LeftWorkspace, OwnWorkspace } from '../../contracts/workspaces/own-workspaces';
import type { LeaveWorkspaceInput, MakeWorkspaceInput } from '../../contracts/workspaces/requests-to-hosts';
import { readJson, writeJson } from '../../system/json-file';
import type { Workspaces } from '../workspaces';
import { gitDirIn } from '../look/surroundings';
import { addWorktree, moveWorktree, removeWorktree, type Worktree } from './worktree';

interface TreeRecord {
  agent: string;
  /** Which incarnation of the agent. */
  born: string;
  base: string;
  /** Who gets what it leaves; null: the folder stays. */
  for: string | null;
  worktree?: Worktree;
  /** Its files are all there. */
  isMade?: true;
  /** What it left; its folder may be gone since. */
  left?: LeftWorkspace;
}

export interface OwnTreesOptions {
  workspaces: Workspaces;
  /** Where they are, and that of an agent. */
  folder: string;
  folderOf: (agent: string) => string;
  /** Whether its shells run in a sandbox. */
  isConfined: boolean;
}

export class OwnTrees {
  constructor(private readonly options: OwnTreesOptions) {}

  /**
   * Makes the folder of an agent: a copy of `of` as it is, or as it was at the checkpoint `hash`; a worktree where `of`
   * is the top of a git repository. Repeated, it answers with the same. Throws `workspace_failed` and
   * `checkpoint_missing`.
   */
  async make({
    agent,
    born,
    of,
    hash,
    for: heir,
  }: Omit<MakeWorkspaceInput, 'of'> & { of: string }): Promise<OwnWorkspace> {
    const { workspaces } = this.options;
    const folder = this.options.folderOf(agent);
    const known = this.read(folder);
    const own = known?.born === born ? known : undefined;
    if (own?.isMade) return { folder: realpathSync(folder), base: own.base };
    // Of an agent of this name that ended before: somebody may still want what is there.
    if (known && !own && existsSync(folder)) moveAside(folder, known.worktree);
    const base = own?.base ?? hash ?? (await this.now(of, agent));
    const record: TreeRecord = { agent, born, base, for: heir };
    this.write(folder, record);
    await rm(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await workspaces.checkout({ hash: base, folder, agent });
    const worktree = worktreeOf(of, folder, agent);
    // A sandbox covers it, and needs a place for that.
    if (!worktree && this.options.isConfined) mkdirSync(join(folder, '.git'), { recursive: true });
    this.write(folder, { ...record, ...(worktree && { worktree }), isMade: true });
    return { folder: realpathSync(folder), base };
  }

  /**
   * The last checkpoint of an agent's folder, and what differs from the first. For somebody: they keep the checkpoints, and
   * the folder is removed. Throws `workspace_failed`; then the folder stays.
   */
  async leave({ agent, base, for: heir }: LeaveWorkspaceInput): Promise<LeftWorkspace> {
    const { workspaces } = this.options;
    const folder = this.options.folderOf(agent);
    const record = this.read(folder);
    if (!record) throw failed(`${folder} was not made for ${agent}`);
    const left = record.left ?? (await this.leftIn(folder, agent, base));
    this.write(folder, { ...record, left });
    if (heir === null) return left;
    await workspaces.keep({ agent: heir, hashes: [left.base, left.hash] });
    if (record.worktree) removeWorktree(record.worktree, folder);
    // The record stays: a repetition answers with it.
    await rm(folder, { recursive: true, force: true });
    return left;
  }

  /** Agents whose folders nobody has left, though somebody is to get what they leave. */
  unleft(): LeaveWorkspaceInput[] {
    const { folder } = this.options;
    if (!existsSync(folder)) return [];
    return readdirSync(folder).flatMap((name) => {
      const record = name.endsWith('.json') ? readJson<TreeRecord>(join(folder, name)) : undefined;
      if (!record?.isMade || record.left || record.for === null) return [];
      return [{ agent: record.agent, base: record.base, for: record.for }];
    });
  }

  private async leftIn(folder: string, agent: string, base: string): Promise<LeftWorkspace> {
    if (!existsSync(folder)) throw failed(`${folder} does not exist`);
    const hash = await this.now(folder, agent);
    const { counts } = await this.options.workspaces.changes({ from: base, to: hash, max: 0 });
    return { base, hash, counts };
  }

  private async now(folder: string, agent: string): Promise<string> {
    const outcome = await this.options.workspaces.checkpoint({ cwd: folder, agent });
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
function worktreeOf(of: string, folder: string, agent: string): Worktree | undefined {
  const gitDir = gitDirIn(of);
  try {
    return gitDir === undefined ? undefined : addWorktree(gitDir, folder, `holdfast-${agent}`);
  } catch {
    return undefined;
  }
}

const failed = (reason: unknown): HoldfastError =>
  new HoldfastError('workspace_failed', { reason: reasonOf(reason) });
