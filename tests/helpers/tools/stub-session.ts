// A folder with the stubs of some tools, a tool socket for it, and real interpreters that run scripts with them.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stubFiles } from '../../../tools/stubs/stub-files';
import type { ToolDescription } from '../../../contracts/tools/tools';
import { listenForTools, type SeenCall, type ToolSocket } from './tool-socket';

/** The oldest Python that the stubs support, if installed. */
export const PYTHON =
  ['python3.9', 'python3'].find((name) => spawnSync(name, ['--version']).status === 0) ?? 'python3';

export interface Ran {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A tool without arguments that returns a text, plus a test's changes to it. */
export const describedTool = (changes: Partial<ToolDescription> & { name: string }): ToolDescription => ({
  description: `Describes ${changes.name}.`,
  parameters: { type: 'object', properties: {} },
  result: null,
  effects: 'read_only',
  runsOn: 'anywhere',
  ...changes,
});

/** The schema of an object, as most tools have it. */
export const objectOf = (
  properties: Record<string, object>,
  required: string[] = [],
): ToolDescription['parameters'] => ({ type: 'object', properties, required, additionalProperties: false });

export class StubSession {
  private constructor(
    /** Its name has a blank. */
    readonly folder: string,
    readonly stubs: string,
    readonly socket: ToolSocket,
  ) {}

  static async start(
    tools: readonly ToolDescription[],
    answer: (call: SeenCall) => unknown = () => 'done',
  ): Promise<StubSession> {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'stub session-')));
    const socket = await listenForTools(join(folder, 'tools.sock'), answer);
    const session = new StubSession(folder, join(folder, 'stubs'), socket);
    session.write(tools);
    return session;
  }

  /** Writes the stubs anew, as it is done when a tool is added. */
  write(tools: readonly ToolDescription[]): void {
    for (const { path, content, executable } of stubFiles(tools, { node: process.execPath })) {
      const file = join(this.stubs, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content, { mode: executable ? 0o755 : 0o644 });
    }
  }

  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: `${join(this.stubs, 'bin')}:${process.env.PATH}`,
      HOME: this.folder,
      PYTHONPATH: join(this.stubs, 'python'),
      NODE_PATH: join(this.stubs, 'node'),
      HOLDFAST_TOOLS: this.stubs,
      HOLDFAST_TOOL_SOCKET: this.socket.path,
      HOLDFAST_TOOL_TOKEN: 'secret',
    };
  }

  spawn(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    return spawn(command, args, { cwd: this.folder, env: { ...this.environment, ...env } });
  }

  async run(
    command: string,
    args: readonly string[],
    { stdin = '', env = {} }: { stdin?: string; env?: NodeJS.ProcessEnv } = {},
  ): Promise<Ran> {
    const child = this.spawn(command, args, env);
    child.stdin?.on('error', () => undefined).end(stdin);
    return finished(child);
  }

  /** Runs a Python script, as a file: child processes of `multiprocessing` import it. */
  python(source: string, env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    const file = join(this.folder, 'script.py');
    writeFileSync(file, source);
    return this.run(PYTHON, [file], { env });
  }

  /** Runs a Python script that prints JSON; throws with its errors. */
  async pythonJson(source: string): Promise<unknown> {
    return printed(await this.python(source));
  }

  node(source: string, kind: 'cjs' | 'mjs' = 'cjs', env: NodeJS.ProcessEnv = {}): Promise<Ran> {
    const file = join(this.folder, `script.${kind}`);
    writeFileSync(file, source);
    return this.run(process.execPath, [file], { env });
  }

  async nodeJson(source: string, kind: 'cjs' | 'mjs' = 'cjs'): Promise<unknown> {
    return printed(await this.node(source, kind));
  }

  tool(args: readonly string[], stdin = ''): Promise<Ran> {
    return this.run('tool', args, { stdin });
  }

  async close(): Promise<void> {
    await this.socket.close();
    rmSync(this.folder, { recursive: true });
  }
}

function printed({ code, stdout, stderr }: Ran): unknown {
  if (code !== 0) throw new Error(`ended with ${code}: ${stdout}${stderr}`);
  return JSON.parse(stdout);
}

/** All that a process printed, once it has ended. */
export async function finished(child: ChildProcess): Promise<Ran> {
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code, signal] = await ended;
  return { code, signal, stdout, stderr };
}
