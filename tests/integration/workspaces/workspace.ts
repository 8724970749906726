// A workspace of a test, the store of a host beside it, and everything that lies in a folder.
import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Checkpoint, CheckpointOutcome } from '../../../contracts/workspaces/checkpoints';
import { WITHOUT_LIMITS, type FileReach } from '../../../contracts/workspaces/file-reach';
import { DEFAULT_CHECKPOINTS, type CheckpointSettings } from '../../../contracts/workspaces/settings';
import { Workspaces } from '../../../workspaces/workspaces';

export class TestWorkspace {
  readonly base = mkdtempSync(join(tmpdir(), 'holdfast-workspace-'));
  readonly cwd = join(this.base, 'work');
  readonly folder = join(this.base, 'data', 'checkpoints', 'local');
  readonly logged: string[] = [];
  workspaces: Workspaces;

  constructor(settings: Partial<CheckpointSettings> = {}) {
    mkdirSync(this.cwd);
    this.workspaces = this.withSettings(settings);
  }

  withSettings(settings: Partial<CheckpointSettings>, reach: FileReach = WITHOUT_LIMITS): Workspaces {
    return new Workspaces({
      folder: this.folder,
      settings: { ...DEFAULT_CHECKPOINTS, ...settings },
      reachOf: () => reach,
      log: (message, facts) => void this.logged.push(`${message} ${JSON.stringify(facts)}`),
    });
  }

  write(path: string, content: string | Buffer, mode?: number): void {
    mkdirSync(dirname(join(this.cwd, path)), { recursive: true });
    writeFileSync(join(this.cwd, path), content, { mode });
  }

  remove(path: string): void {
    rmSync(join(this.cwd, path), { recursive: true });
  }

  async checkpoint(agent = 'a', cwd = this.cwd): Promise<{ state: 'kept' } & Checkpoint> {
    const outcome: CheckpointOutcome = await this.workspaces.checkpoint({ cwd, agent });
    if (outcome.state !== 'kept') throw new Error(`no checkpoint: ${outcome.reason}`);
    return outcome;
  }

  /** To a checkpoint, with nothing else changed. */
  rewind(
    to: string,
    more: Partial<Parameters<Workspaces['rewind']>[0]> = {},
  ): ReturnType<Workspaces['rewind']> {
    return this.workspaces.rewind({
      ...{ cwd: this.cwd, agent: 'a', to, expected: null, foreign: [], force: false, dryRun: false },
      ...more,
    });
  }

  /** git of the store. */
  git(...args: string[]): string {
    return execFileSync('git', ['--git-dir', join(this.folder, 'store.git'), ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
  }

  /** git of the user, in the workspace. */
  userGit(...args: string[]): string {
    const who = ['-c', 'user.name=u', '-c', 'user.email=u@example.org'];
    return execFileSync('git', [...who, ...args], { cwd: this.cwd, encoding: 'utf8', stdio: 'pipe' });
  }

  objects(): number {
    return Number(/in-pack: (\d+)/.exec(this.git('count-objects', '-v'))?.[1]);
  }

  end(): void {
    execFileSync('chmod', ['-R', 'u+rwX', this.base]);
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** A workspace of the test's agent. */
export const ofAgent = (cwd: string): { cwd: string; owner: string } => ({ cwd, owner: 'a' });

/** Everything in a folder: kind, mode, content or target, by path as latin1. Without `.git` at its top. */
export function everythingIn(
  folder: string,
  without: (path: string) => boolean = () => false,
): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (path: string): void => {
    const place = Buffer.from(path === '' ? folder : `${folder}/${path}`, 'latin1');
    const stats = lstatSync(place);
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isSymbolicLink()) found[path] = `link ${readlinkSync(place, 'latin1')}`;
    else if (stats.isFile()) found[path] = `file ${mode} ${readFileSync(place).toString('base64')}`;
    else if (stats.isDirectory()) {
      found[path] = `folder ${mode}`;
      for (const name of readdirSync(place, 'latin1').sort()) {
        const inner = path === '' ? name : `${path}/${name}`;
        if (inner !== '.git' && !without(inner)) visit(inner);
      }
    } else found[path] = 'special';
  };
  visit('');
  return found;
}
