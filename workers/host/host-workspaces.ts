// What concerns files of a host's agents: their checkpoints, the folders of those that have one of their own, and how each
// is confined.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { agentWorkflowId } from '../../contracts/ids';
import type { FileReach } from '../../contracts/workspaces/file-reach';
import type { CheckpointSettings } from '../../contracts/workspaces/settings';
import { fileReach } from '../../exec/file-reach';
import { ownFolder, ownFolders, profileOf } from '../../exec/own-folder';
import type { Sandbox } from '../../exec/sandbox/sandbox';
import type { Terminals } from '../../exec/terminals';
import type { ToolHost } from '../../tools/tool';
import { Store } from '../../workspaces/git/store';
import { OwnTrees } from '../../workspaces/own/own-trees';
import { Workspaces } from '../../workspaces/workspaces';
import { describeIfThere } from '../agents/ended-agents';
import { RepeatedLook } from '../repeated-look';

const COLLECT_EVERY_MS = 600_000;
/** Share of its limit from which the store makes room. */
const FULL = 0.9;

export interface HostWorkspacesOptions {
  client: Client;
  host: string;
  sessions: Terminals;
  /** The sandbox of most sessions and tools. */
  sandbox: Sandbox | undefined;
  checkpoints: CheckpointSettings;
  /** How long the checkpoints of an ended agent are kept, in milliseconds. */
  keepMs: number;
  /** Asked before checkpoints are removed: the clock of this machine may be months ahead. */
  serverTime: () => Promise<number>;
  log: (message: string, facts: object) => void;
}

export class HostWorkspaces {
  readonly workspaces: Workspaces;
  readonly trees: OwnTrees;
  /** Removes what cannot be named any more. */
  readonly looks: RepeatedLook;

  constructor(private readonly options: HostWorkspacesOptions) {
    const { host, sessions, checkpoints, log } = options;
    const { dataDir } = sessions.options;
    this.workspaces = new Workspaces({
      folder: join(checkpointsFolder(dataDir), host),
      settings: checkpoints,
      reachOf: this.reachOf,
      log,
    });
    const folderOf = (agent: string): string => ownFolder(dataDir, { agent, host });
    const isConfined = sessions.options.sandbox !== undefined;
    const folder = ownFolders(dataDir, host);
    const { workspaces, reachOf } = this;
    this.trees = new OwnTrees({ workspaces, folder, folderOf, reachOf, isConfined, log });
    this.looks = new RepeatedLook(
      () => this.collect(),
      (error) => log('what ended agents left could not be removed', { error }),
      COLLECT_EVERY_MS,
    );
  }

  /** What an agent may read and write on this host, whichever process does it for it. */
  readonly reachOf = (agent: string): FileReach => {
    const { host, sessions } = this.options;
    const { dataDir, sandbox: profile } = sessions.options;
    return fileReach(dataDir, profile && profileOf(profile, { agent, host }));
  };

  /** Finishes at once what a killed worker had begun; what ended agents left is removed from then on. */
  start(): void {
    void this.workspaces.finishBegun();
    this.looks.start();
  }

  stop(): void {
    this.looks.stop();
  }

  /** The sandbox of an agent's tools outside sessions: the same as its sessions have. */
  sandboxOf(agent: string): Sandbox | undefined {
    const { host, sandbox, sessions } = this.options;
    const profile = sessions.options.sandbox;
    return sandbox && profile && sandbox.with(profileOf(profile, { agent, host }));
  }

  /** The part of `ToolHost` that is about files. */
  get toolHost(): Pick<ToolHost, 'confine' | 'confinedFor' | 'reachOf' | 'workspaces'> {
    const { sandbox, sessions } = this.options;
    const { cwd } = sessions.options;
    return {
      ...confinedBy(sandbox),
      confinedFor: (agent) => confinedBy(this.sandboxOf(agent)),
      reachOf: this.reachOf,
      workspaces: {
        apply: ({ cwd: folder, ...request }) =>
          this.workspaces.applyChanges({ ...request, cwd: folder ?? cwd }),
      },
    };
  }

  /**
   * A store that is nearly full keeps nothing of ended agents. Throws after it has done all it can: a folder that cannot be
   * left must not keep the store from making room, without which none could be.
   */
  private async collect(): Promise<void> {
    const { checkpoints } = this.options;
    const isFull = this.workspaces.bytes() > FULL * checkpoints.storeBytes;
    const failures: string[] = [];
    // Of agents that were terminated, which runs none of their code.
    for (const tree of this.trees.unleft())
      if (await this.hasEnded(tree.agent, isFull))
        await this.trees
          .sweep(tree)
          .catch((err: unknown) => failures.push(`folder of ${tree.agent}: ${reasonOf(err)}`));
    const gone = new Set<string>();
    for (const agent of await this.workspaces.agents())
      if (!(await this.isKept(agent, isFull))) gone.add(agent);
    if (gone.size > 0)
      await this.workspaces.collect({
        isLiving: async (agent) => !gone.has(agent) || this.isKept(agent, isFull),
      });
    if (failures.length > 0) throw new Error(failures.join('; '));
  }

  private async hasEnded(agent: string, isFull: boolean): Promise<boolean> {
    const found = await describeIfThere(this.options.client, agentWorkflowId(agent));
    return found ? found.closeTime !== undefined : isFull;
  }

  /** An agent that the server does not know may be another server's: its files and checkpoints only go for want of room. */
  private async isKept(agent: string, isFull: boolean): Promise<boolean> {
    const found = await describeIfThere(this.options.client, agentWorkflowId(agent));
    if (!found) return !isFull;
    const { closeTime } = found;
    if (closeTime === undefined || isFull) return closeTime === undefined;
    const keptUntil = closeTime.getTime() + this.options.keepMs;
    return keptUntil > Date.now() || keptUntil > (await this.options.serverTime());
  }
}

/** The size of the store of each host of a data folder. */
export function checkpointStores(dataDir: string): { host: string; bytes: number }[] {
  const folder = checkpointsFolder(dataDir);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((host) => ({ host, bytes: new Store(join(folder, host)).bytes() }));
}

const checkpointsFolder = (dataDir: string): string => join(dataDir, 'checkpoints');

const confinedBy = (sandbox: Sandbox | undefined): Pick<ToolHost, 'confine'> =>
  sandbox ? { confine: (folder, argv) => sandbox.program(folder, argv) } : {};
