// A model of the files that agents work on: what their host's worker does with checkpoints and rewinds. What the files are
// is one value; each change makes another one.
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import {
  REWIND_BEGAN,
  type CheckpointInput,
  type LeaveWorkspaceInput,
  type MakeWorkspaceInput,
  type RewindFilesInput,
  type RewoundWorkspace,
} from '../../../contracts/workspaces/requests-to-hosts';
import type { Activities, Work } from './activity-worker';
import type { Facts } from './facts';

const NO_CHANGES = { added: 0, modified: 1, deleted: 0 };
const hashOf = (version: number): string => String(version).padStart(40, '0');

export class Workspaces {
  private versions = 0;
  private readonly contents = new Map<string, string>();
  /** By the key of their request. */
  private readonly rewound = new Map<string, RewoundWorkspace>();
  private readonly begun = new Set<string>();

  constructor(private readonly facts: Facts) {}

  contentOf(agent: string): string {
    return this.contents.get(agent) ?? hashOf(0);
  }

  change(agent: string): void {
    this.contents.set(agent, hashOf((this.versions += 1)));
  }

  activities = (): Activities => ({
    checkpointWorkspace: (work, { agent }: CheckpointInput) =>
      work.then(`a checkpoint of ${agent}`, () => {
        const hash = this.contentOf(agent);
        work.complete({ state: 'kept', hash, files: 1, bytes: 1, changes: NO_CHANGES });
      }),
    rewindWorkspace: (work, input: RewindFilesInput) => this.rewind(work, input),
    keepCheckpoints: (work) => work.complete(),
    compareCheckpoints: (work) =>
      work.complete({ changes: { counts: NO_CHANGES, paths: [], omitted: 0 }, text: null, isCut: false }),
    makeWorkspace: (work, { agent }: MakeWorkspaceInput) =>
      work.then(`a workspace for ${agent}`, () =>
        work.complete({ folder: `/own/${agent}`, base: this.contentOf(agent) }),
      ),
    leaveWorkspace: (work, { agent, base }: LeaveWorkspaceInput) =>
      work.then(`${agent} leaves its workspace`, () =>
        work.complete({ base, hash: this.contentOf(agent), counts: NO_CHANGES, folder: `/own/${agent}` }),
      ),
  });

  private rewind(work: Work, input: RewindFilesInput): void {
    const { key, agent, to, expected, force, dryRun } = input;
    const known = this.rewound.get(key);
    if (known) return work.complete(known);
    const before = this.contentOf(agent);
    const isStrange = expected !== null && before !== expected && before !== to;
    if (isStrange && !force && !this.begun.has(key))
      throw new HoldfastError('workspace_changed', { count: 1, got: 'a file' });
    const changes = { counts: NO_CHANGES, paths: [], omitted: 0 };
    const done: RewoundWorkspace = { files: { hash: to, before, changes }, running: [] };
    if (dryRun) return work.then('a look at a rewind', () => work.complete(done));
    this.begun.add(key);
    work.beat(REWIND_BEGAN);
    work.then(`files of ${agent} are half back`, () => {
      this.change(agent);
      work.then(`files of ${agent} are back`, () => {
        this.contents.set(agent, to);
        this.rewound.set(key, done);
        this.facts.add({ is: 'rewound', of: agent, key, hash: to });
        work.complete(done);
      });
    });
  }
}
