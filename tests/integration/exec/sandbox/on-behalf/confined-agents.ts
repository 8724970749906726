// A host of a test whose agents are confined, and what its worker does for them without entering the sandbox. No sandbox
// has to work here: what it would allow follows from its profile.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { FileReach } from '../../../../../contracts/workspaces/file-reach';
import { DEFAULT_CHECKPOINTS } from '../../../../../contracts/workspaces/settings';
import { fileReach } from '../../../../../exec/file-reach';
import { ownFolder, ownFolders, profileOf } from '../../../../../exec/own-folder';
import { NO_SANDBOX } from '../../../../../exec/sandbox/open-sandbox';
import { sandboxProfile, type SandboxProfile } from '../../../../../exec/sandbox/profile';
import { OwnTrees } from '../../../../../workspaces/own/own-trees';
import { Workspaces } from '../../../../../workspaces/workspaces';

const host = 'local';

export class ConfinedAgents {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-on-behalf-')));
  readonly data = join(this.base, 'state', 'data');
  /** What agents may write. */
  readonly work = join(this.base, 'work');
  /** Hidden from them, since it lies in no folder that is shown. */
  readonly outside = join(this.base, 'outside');
  /** What they may only read. */
  readonly shown = join(this.base, 'shown');
  readonly workspaces: Workspaces;
  readonly trees: OwnTrees;
  hidden: string[] = [];
  /** Undefined: as if it had no sandbox. */
  isConfined = true;

  constructor() {
    for (const folder of [this.data, this.work, this.outside, this.shown])
      mkdirSync(folder, { recursive: true });
    const log = (): void => undefined;
    const { reachOf } = this;
    const folder = join(this.data, 'checkpoints', host);
    const settings = { ...DEFAULT_CHECKPOINTS, enabled: 'on' } as const;
    this.workspaces = new Workspaces({ folder, settings, reachOf, log });
    this.trees = new OwnTrees({
      ...{ workspaces: this.workspaces, folder: ownFolders(this.data, host), reachOf, isConfined: true, log },
      folderOf: (agent) => ownFolder(this.data, { agent, host }),
    });
  }

  readonly reachOf = (agent: string): FileReach =>
    fileReach(this.data, this.isConfined ? profileOf(this.profile, { agent, host }) : undefined);

  private get profile(): SandboxProfile {
    const { work, data, base } = this;
    const loaded = ['holdfast.toml', 'roles', 'conf/later.toml'].map((name) => join(work, name));
    const places = { workspace: work, home: join(base, 'home'), dataDir: data, loaded };
    const settings = { ...NO_SANDBOX, readable: [this.shown], hidden: this.hidden };
    const programs = { bwrap: '/none', mkfifo: '/none', stty: '/none' };
    return { ...sandboxProfile(settings, places), programs, path: '' };
  }

  write(path: string, content: string, folder = this.work): void {
    const place = join(folder, path);
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, content);
  }

  async checkpoint(agent: string, cwd = this.work): Promise<string> {
    const outcome = await this.workspaces.checkpoint({ cwd, agent });
    if (outcome.state !== 'kept') throw new Error(outcome.reason);
    return outcome.hash;
  }

  rewind(agent: string, to: string, cwd = this.work): ReturnType<Workspaces['rewind']> {
    const asked = { expected: null, foreign: [], force: true, dryRun: false };
    return this.workspaces.rewind({ cwd, agent, to, ...asked });
  }

  /** A sub-agent of `parent` that works in a folder of its own; its changes come back. */
  async subAgent(
    agent: string,
    work: (folder: string) => void,
    { parent = 'parent', of = this.work } = {},
  ): ReturnType<Workspaces['applyChanges']> {
    const made = await this.copy(agent, { parent, of });
    work(made.folder);
    const { hash } = await this.trees.leave({ agent, born: '1', base: made.base, for: parent });
    return this.workspaces.applyChanges({
      agent: parent,
      cwd: of,
      base: made.base,
      theirs: hash,
      dryRun: false,
    });
  }

  /** The own folder of an agent that begins with another one's files. */
  copy(
    agent: string,
    { parent = 'parent', of = this.work, hash = null as string | null } = {},
  ): ReturnType<OwnTrees['make']> {
    return this.trees.make({ agent, born: '1', of, owner: parent, hash, for: parent });
  }

  /** A repository, as `git init` and a commit make it. */
  repository(path: string): string {
    const folder = join(this.work, path);
    mkdirSync(folder, { recursive: true });
    const git = (...args: string[]): void =>
      void execFileSync('git', ['-c', 'user.name=u', '-c', 'user.email=u@example.org', ...args], {
        cwd: folder,
        stdio: 'ignore',
      });
    git('init', '-q');
    writeFileSync(join(folder, 'code.txt'), 'code\n');
    git('add', '.');
    git('commit', '-q', '-m', 'one');
    return folder;
  }

  link(to: string, path: string, folder = this.work): void {
    const place = join(folder, path);
    if (existsSync(place)) rmSync(place, { recursive: true });
    symlinkSync(to, place);
  }

  end(): void {
    execFileSync('chmod', ['-R', 'u+rwX', this.base]);
    rmSync(this.base, { recursive: true, force: true });
  }
}
