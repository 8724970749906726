// Runs git on the store, with nothing of the user's: neither environment nor configuration, hooks, filters or monitors.
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, dirname, isAbsolute } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { findOnPath } from '../../system/executable';
import { withPipes } from '../../system/processes/with-pipes';
import { endOf } from '../../contracts/text/well-formed';

/** System folders come first: others may put programs elsewhere on a PATH. */
const SYSTEM_FOLDERS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'];
const MAX_SAID_BYTES = 4_096;

/** Each of these a user's or a repository's configuration could set otherwise, if it were read. */
const SETTINGS = [
  ...['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.untrackedCache=false', 'core.pager=cat'],
  ...['core.autocrlf=false', 'core.safecrlf=false', 'core.symlinks=true', 'core.fileMode=true'],
  ...['core.ignoreCase=false', 'core.precomposeUnicode=false', 'core.protectNTFS=false'],
  ...['core.protectHFS=false', 'core.trustctime=true', 'core.checkStat=default', 'core.quotePath=false'],
  ...['core.sparseCheckout=false', 'core.splitIndex=false', 'core.preloadIndex=true', 'gc.auto=0'],
  ...['maintenance.auto=false', 'fastimport.unpackLimit=0', 'diff.renames=false', 'diff.external='],
];

/** `git` was not found. */
export class NoGit extends Error {}

/** git ended with an error. */
export class GitFailure extends Error {
  constructor(
    readonly command: string,
    readonly status: number | string,
    /** The end of what it wrote to stderr. */
    readonly said: string,
  ) {
    super(`git ${command} ended with ${status}: ${/^(?:fatal|error): .+/m.exec(said)?.[0] ?? said.trim()}`);
  }
}

export interface GitOptions {
  /** For commands that look at files: the folder of the files, the index, and the folder to begin in. */
  look?: { workTree: string; index: string; cwd: string };
  /** More settings, as `name=value`. */
  settings?: readonly string[];
  input?: Buffer;
  /** Exit codes that are no failure; 0 always is none. */
  allowed?: readonly number[];
  /** Called with each piece of output, instead of collecting it; `false` ends git. */
  onOutput?: (chunk: Buffer) => boolean;
  signal?: AbortSignal;
}

/** git on one store. */
export class Git {
  private readonly program: string | undefined;
  private readonly path: string;

  constructor(
    /** The store, a bare repository. */
    readonly gitDir: string,
    path = process.env.PATH,
  ) {
    const folders = (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
    this.program = findOnPath('git', [...SYSTEM_FOLDERS, ...folders].join(delimiter));
    this.path = [...SYSTEM_FOLDERS, ...(this.program ? [dirname(this.program)] : [])].join(delimiter);
  }

  /** Starts git with pipes. Throws `NoGit` and `resources_exhausted`. */
  start(args: readonly string[], { look, settings = [] }: GitOptions = {}): ChildProcessWithoutNullStreams {
    if (this.program === undefined) throw new NoGit('git is not installed on this host');
    const all = [...SETTINGS, ...settings].flatMap((setting) => ['-c', setting]);
    const child = spawn(this.program, [...all, ...args], {
      cwd: look?.cwd ?? '/',
      env: {
        PATH: this.path,
        LC_ALL: 'C',
        GIT_DIR: this.gitDir,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_ATTR_NOSYSTEM: '1',
        GIT_OPTIONAL_LOCKS: '0',
        GIT_NO_REPLACE_OBJECTS: '1',
        // A git before 2.34 would leave out a damaged ref, and what it leads to.
        GIT_REF_PARANOIA: '1',
        GIT_TERMINAL_PROMPT: '0',
        ...(look && { GIT_WORK_TREE: look.workTree, GIT_INDEX_FILE: look.index }),
      },
      stdio: 'pipe',
    });
    return withPipes(child);
  }

  /** Its output. Throws `NoGit` and `GitFailure`, and the signal's reason. */
  async run(args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
    const { input, allowed = [], onOutput, signal } = options;
    signal?.throwIfAborted();
    const child = this.start(args, options);
    const chunks: Buffer[] = [];
    let isEnough = false;
    const end = (): void => void child.kill('SIGKILL');
    signal?.addEventListener('abort', end, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      if (onOutput === undefined) chunks.push(chunk);
      else if (!isEnough && !onOutput(chunk)) {
        isEnough = true;
        end();
      }
    });
    const said = lastWords(child);
    child.stdin.on('error', () => undefined).end(input);
    const [code, killedBy] = (await once(child, 'close')) as [number | null, string | null];
    signal?.removeEventListener('abort', end);
    signal?.throwIfAborted();
    if (!isEnough && code !== 0 && !allowed.includes(code ?? -1))
      throw new GitFailure(args[0] ?? '', code ?? killedBy ?? '', said());
    return Buffer.concat(chunks);
  }
}

/** Collects the end of what a process writes to stderr. */
export function lastWords(child: ChildProcessWithoutNullStreams): () => string {
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = endOf(said + chunk.toString(), MAX_SAID_BYTES)));
  return () => said;
}

/** Throws `checkpoint_missing` for what is not the id of a commit. */
export function checkHash(hash: string): void {
  if (!/^[0-9a-f]{40}$/.test(hash)) throw new HoldfastError('checkpoint_missing', { got: hash.slice(0, 64) });
}
