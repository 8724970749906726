// The package as users have it: packed, and installed into projects outside of the checkout, on Nodes that npm brings.
import { execFile, execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { packageRoot } from '../../../system/package-root';
import type { CliResult } from '../engines/command-lines';

export type NodeVersion = 22 | 24;
/** A project by the `type` of its package.json. */
export type ProjectType = 'module' | 'commonjs';

/** What `npm run` and jest add to the environment, and what would lead to the developer's own engine. */
const OF_THIS_RUN = /^(npm_|NODE_(OPTIONS|PATH|ENV)$|JEST_|HOLDFAST_(?!TEMPORAL_CLI)|TEMPORAL_|INIT_CWD$)/i;
const OF_THE_MACHINE =
  /^npm_config_(registry|cache|userconfig|globalconfig|(https?_)?proxy|noproxy|cafile|ca)$/i;

const PATH = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter);

/** As of a new terminal. */
const ENVIRONMENT: NodeJS.ProcessEnv = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => OF_THE_MACHINE.test(name) || !OF_THIS_RUN.test(name)),
  ),
  PATH,
  NO_COLOR: '1',
};

/** `node` of the machine, where it is older than what workers need. */
export function oldNode(): string | undefined {
  for (const folder of PATH.split(delimiter)) {
    try {
      const file = join(folder, 'node');
      const version = execFileSync(file, ['--version'], { encoding: 'utf8' });
      if (/^v20\./.test(version)) return file;
    } catch {
      // Another folder has it.
    }
  }
  return undefined;
}

export class InstalledPackage {
  /** As a person's may be named. */
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast für alle ')));
  /** Paths of the tarball's files. */
  files: string[] = [];
  /** What npm said on standard error of each installation. */
  readonly said: Record<ProjectType, string> = { module: '', commonjs: '' };
  private readonly port = 12_000 + 2 * Math.floor(Math.random() * 9_000);

  project = (type: ProjectType): string => join(this.folder, `ein ${type}`);
  node = (version: NodeVersion): string => join(this.nodes, 'node_modules', `node${version}`, 'bin', 'node');

  /** Packs, and installs for both Nodes, and by one of them into a project of each type. */
  async install(): Promise<void> {
    const packing = ['pack', '--ignore-scripts', '--json', '--pack-destination', this.folder];
    const packed = await this.run('npm', packing, { cwd: packageRoot() });
    const [pack] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
    this.files = pack.files.map(({ path }) => path);
    await this.npmInstall(this.nodes, {}, ['node22@npm:node@22', 'node24@npm:node@24']);
    const { devDependencies } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
      devDependencies: Record<string, string>;
    };
    const wanted = [
      join(this.folder, pack.filename),
      ...['typescript', '@types/node'].map((name) => `${name}@${devDependencies[name]}`),
    ];
    const into = async (type: ProjectType, version: NodeVersion, ...flags: string[]): Promise<void> => {
      const args = [...flags, ...wanted];
      this.said[type] = await this.npmInstall(this.project(type), { type }, args, version);
    };
    // Everything runs without the install scripts of others, too, as docs/install.md says.
    await Promise.all([into('module', 22), into('commonjs', 24, '--ignore-scripts')]);
  }

  /** A program in a project, on one of the Nodes; `node` is that Node. */
  run(
    program: string,
    args: string[],
    { cwd, version, env }: { cwd: string; version?: NodeVersion; env?: NodeJS.ProcessEnv },
  ): Promise<CliResult> {
    const path = version ? [join(this.node(version), '..'), PATH].join(delimiter) : PATH;
    const options = {
      cwd,
      env: { ...ENVIRONMENT, PATH: path, ...env },
      timeout: 120_000,
      maxBuffer: 2 ** 26,
    };
    return new Promise((resolve) => {
      const child = execFile(program, args, options, (err, stdout, stderr) => {
        const failed = child.exitCode === null ? (err?.message ?? '') : '';
        resolve({ code: child.exitCode, stdout, stderr: stderr + failed });
      });
      child.stdin?.end();
    });
  }

  /** Code of a project, as a file of its own would be. */
  script(type: ProjectType, version: NodeVersion, code: string): Promise<CliResult> {
    return this.run('node', [`--input-type=${type}`, '-e', code], { cwd: this.project(type), version });
  }

  /** The command line of a project, on a data folder of its own. */
  holdfast(type: ProjectType, version: NodeVersion, args: string[]): Promise<CliResult> {
    const cwd = this.project(type);
    const program = join(cwd, 'node_modules', '.bin', 'holdfast');
    return this.run(program, args, { cwd, version, env: { HOLDFAST_DATA: this.dataDir(version) } });
  }

  /** Starts the engine of a Node on ports of its own; resolves with its address. */
  async up(type: ProjectType, version: NodeVersion): Promise<string> {
    const port = this.port + (version === 22 ? 0 : 2_000);
    const args = ['up', '--port', String(port), '--ui-port', String(port + 1)];
    const { code, stdout, stderr } = await this.holdfast(type, version, args);
    if (code !== 0) throw new Error(`up: ${code}\n${stdout}\n${stderr}`);
    return `127.0.0.1:${port}`;
  }

  /** Ends what was started, and removes the folder; resolves with the processes that were left. */
  async remove(): Promise<string[]> {
    const started = ([22, 24] as const).filter((version) => exists(this.dataDir(version)));
    for (const version of started) await this.holdfast('module', version, ['down', '--sessions']);
    const left = this.processes();
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    return left.map(({ line }) => line);
  }

  private get nodes(): string {
    return join(this.folder, 'nodes');
  }

  private dataDir = (version: NodeVersion): string => join(this.folder, `data ${version}`);

  /** Resolves with what npm said on standard error. */
  private async npmInstall(
    cwd: string,
    project: object,
    wanted: string[],
    version?: NodeVersion,
  ): Promise<string> {
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ private: true, ...project }));
    const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...wanted];
    const { code, stderr } = await this.run('npm', args, { cwd, ...(version && { version }) });
    if (code !== 0) throw new Error(`npm ${args.join(' ')}: ${code}\n${stderr}`);
    return stderr;
  }

  /** Those that name the folder. */
  private processes(): { pid: number; line: string }[] {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid)
      .map((pid) => ({ pid, line: commandLine(pid) }))
      .filter(({ line }) => line.includes(this.folder));
  }
}

function exists(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
