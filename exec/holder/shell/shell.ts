// One epoch of a session: a terminal, its bash, and the private channels that drive it.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as pty from 'node-pty';
import type { TreeKill } from '../../../contracts/sessions/session';
import { quote } from '../../../contracts/text/shell-word';
import { removeQuietly } from '../../../system/json-file';
import { shellAsset } from '../../../system/package-root';
import { childrenOf, processStat, readLink, readText } from '../../../system/processes/proc';
import type { HostCommand, TerminalSize } from '../../protocol';
import type { CoverWatch } from '../../sandbox/cover-watch';
import type { Sandbox } from '../../sandbox/sandbox';
import { FencedOutput } from './fenced-output';
import { commandScript, beforeCommand } from './command-script';
import { heldOpen } from './held-open';
import { KeptSettings } from './line-settings';
import { answersFolder, MissingReport, type MissingModules } from './missing-packages';
import { outsideProgram } from './outside-programs';
import { readReports } from './reports';
import { killTree, shellCommand, treeCommand } from '../../processes/process-tree';
import { signal } from '../../processes/signals';
import { ScriptFiles } from './script-files';
import type { SessionSecrets } from '../session-secrets';
import { OfferedTools, type CommandTools } from './tools-script';

/** Of reading what is left in a terminal: what survives a kill may print on. */
const MAX_REST_TURNS = 64;
/** A command line (proc(5): arguments end with NUL) of a shell that runs no script. */
const ANOTHER_SHELL = /^(?:[^\0]*\/)?-?(?:ba|da|z|k|fi)?sh\0(?:-[a-z]+\0)*$/;
export const COLUMNS = 120;
export const ROWS = 40;

export interface ShellOptions {
  /** A folder for this epoch only. */
  directory: string;
  cwd: string;
  env: Record<string, string>;
  treeKill: TreeKill;
  /** The shell's sandbox; absent if the shell may do everything that its user may. */
  sandbox?: Sandbox | undefined;
}

export interface ShellCommand extends Omit<HostCommand, 'id'> {
  /** Discards leftovers of earlier typing. */
  flush: boolean;
  /** Null if its scripts may call none. */
  tools: CommandTools | null;
  /** Secrets that its code may name. */
  secrets?: SessionSecrets;
}

export interface ShellEvents {
  onOutput(data: Buffer): void;
  /** The current command has ended; all of its output was delivered before. */
  onCommandEnd(exitCode: number): void;
  /** The shell itself has ended, by `exit` or a signal (code above 128). */
  onShellEnd(exitCode: number): void;
}

export class Shell {
  /** Of the current command: what it has printed may still be on its way. */
  hasEnded = false;
  private readonly terminal: pty.IPty;
  private up: Socket | undefined;
  private readonly channels: number[] = [];
  private readonly down: number;
  /** The terminal's other side. */
  private slave: number | undefined;
  private readonly nonce = randomBytes(8).toString('hex');
  private readonly output: FencedOutput;
  private readonly mark: string;
  private commands = 0;
  private ready!: () => void;
  private readonly isReady = new Promise<void>((resolve) => (this.ready = resolve));
  private taken: Promise<void> = Promise.resolve();
  private take: () => void = () => undefined;
  private isDown = false;
  /** From then on its process id may belong to any process, and the terminal's descriptor to any file. */
  private isLeaderGone = false;
  private ending = false;
  private isTreeGone = false;
  private ended = false;
  private events: ShellEvents | null = null;
  private cwd = '';
  private scripts: ScriptFiles | undefined;
  private readonly tools: OfferedTools;
  private covers: CoverWatch | undefined;
  private readonly lines = new KeptSettings();
  private missing: MissingReport | undefined;

  constructor(private readonly options: ShellOptions) {
    const { directory, env, sandbox } = options;
    // Left over from an earlier failed attempt to open this epoch.
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(answersFolder(directory), { recursive: true, mode: 0o700 });
    const fence = `\x1b]7717;${randomBytes(8).toString('hex')}\x07`;
    this.output = new FencedOutput(fence, (data) => this.events?.onOutput(data));
    this.tools = new OfferedTools(directory, sandbox !== undefined);
    this.mark = `HOLDFAST_SESSION_MARK=${randomBytes(8).toString('hex')}`;
    const paths = ['up', 'down', 'hold'].map((name) => join(directory, name));
    // Before anything is opened: a full disk fails here.
    writeFileSync(join(directory, 'fence'), `${fence}\n`, { mode: 0o600 });
    writeFileSync(this.rc, this.driver(fence), { mode: 0o600 });
    execFileSync(outsideProgram('mkfifo'), ['-m', '600', ...paths]);
    try {
      // Opened for both directions, so that neither side sees an end of file between two commands.
      for (const path of paths) this.channels.push(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
      this.down = this.channels[1] as number;
      this.up = new Socket({ fd: this.channels[0] as number, readable: true, writable: false });
      readReports(this.up, (line) => this.onReport(line));
      // Before the mounts exist, so that a replacement during the start is noticed too.
      this.covers = sandbox?.watch((path) => this.uncovered(path));
      this.terminal = this.spawn({
        ...env,
        ...Object.fromEntries([this.mark.split('=') as [string, string]]),
      });
    } catch (err) {
      // Each further attempt would cost the holder as many again.
      this.ending = true;
      this.closeChannels();
      throw err;
    }
  }

  /** Reports to `events` from now on. The next command begins in `cwd`, if set; if it cannot, the shell ends. */
  serve(events: ShellEvents, cwd = ''): void {
    this.events = events;
    this.cwd = cwd;
  }

  /** Process id of the terminal's leader, as the holder sees it. */
  get leader(): number {
    return this.terminal.pid;
  }

  /** What lets a host find all processes of this epoch without asking the holder. */
  get tree(): { leader: number; mark: string; ownShell: string } {
    return { leader: this.leader, mark: this.mark, ownShell: this.rc };
  }

  /** The bash that runs the commands, as the holder sees it. */
  get shellPid(): number | undefined {
    const init = this.options.treeKill === 'process-search' ? this.leader : childrenOf(this.leader)[0];
    return init === undefined ? undefined : childrenOf(init)[0];
  }

  /** Where the next command begins; null if the system does not say. */
  get folder(): string | null {
    if (this.cwd) return this.cwd;
    try {
      return readlinkSync(`/proc/${this.shellPid}/cwd`);
    } catch {
      return null;
    }
  }

  /** Whether a process is a copy of our bash: one that has not become a program yet, or a subshell. */
  isCopyOfShell(pid: number): boolean {
    const commandLine = readText(`/proc/${pid}/cmdline`) ?? '';
    return pid !== this.shellPid && commandLine.includes(this.rc);
  }

  /** Whether a command such as `exec bash` has put another shell in place of ours, which then waits. */
  get isReplaced(): boolean {
    const commandLine = (this.shellPid && readText(`/proc/${this.shellPid}/cmdline`)) || '';
    return ANOTHER_SHELL.test(commandLine) && !commandLine.includes(this.options.directory);
  }

  /** The startup file of bash: appears in the command line of bash and its copies. */
  private get rc(): string {
    return join(this.options.directory, 'rc');
  }

  /** Path of the terminal's device. */
  get ttyPath(): string | undefined {
    return this.isLeaderGone ? undefined : readLink(`/proc/${this.leader}/fd/0`);
  }

  /** Descriptor of the terminal's master side, for writes of bounded size; -1 once it is closed. */
  get masterFd(): number {
    return this.isLeaderGone ? -1 : (this.terminal as unknown as { fd: number }).fd;
  }

  get foregroundGroup(): number | undefined {
    const group = this.isLeaderGone ? undefined : processStat(this.leader)?.foregroundGroup;
    return group !== undefined && group > 0 ? group : undefined;
  }

  /**
   * Waits until bash is ready, and writes the files of a command: all that a disk can refuse. Returns what hands the
   * command to bash; null if the shell has ended. Throws the errors of the file system.
   */
  async prepare(command: ShellCommand): Promise<(() => void) | null> {
    this.taken = new Promise((resolve) => (this.take = resolve));
    this.hasEnded = false;
    const name = String(++this.commands);
    await Promise.all([this.isReady, this.lines.untilRestored()]);
    if (this.ended || this.isDown) {
      this.take();
      return null;
    }
    const script = join(this.options.directory, name);
    this.scripts?.close();
    const { write } = (this.scripts = new ScriptFiles(command.secrets));
    write(script, commandScript(this.options.directory, name, command, write), 'once');
    this.missing = new MissingReport(script, command, command.checkImports !== undefined);
    const before = beforeCommand(this.cwd, this.options.sandbox, command.traceparent);
    if (before !== '') writeFileSync(`${script}.cwd`, before, { mode: 0o600 });
    const tools = this.tools.offer(command.tools);
    const flags = `${command.flush ? 'flush' : '-'} ${before === '' ? '-' : 'cwd'} ${tools} ${this.lines.wanted}`;
    return () => {
      this.output.beginAgain();
      writeSync(this.down, `${name} ${this.nonce} ${flags}\n`);
      this.cwd = '';
    };
  }

  /** Of a command that is over, or not handed over after all: nothing waits for it, and its secrets cannot be read. */
  endCommand(): void {
    this.hasEnded = true;
    this.take();
    this.scripts?.close();
  }

  /** The modules for want of which the last command ended with this code. */
  missingModules = (exitCode: number | null): MissingModules | undefined => this.missing?.read(exitCode);

  /**
   * Resolves when bash has taken the last command: typing sent earlier would be discarded with old input, and a Ctrl-C
   * would reach bash before there is anything to interrupt.
   */
  untilTaken(): Promise<void> {
    return this.taken;
  }

  resize({ cols, rows }: TerminalSize): void {
    if (!this.ended && !this.isDown && !this.isLeaderGone) this.terminal.resize(cols, rows);
  }

  /** Stops reading the terminal: the kernel then stalls any program that prints. */
  pause(): void {
    if (this.isTreeGone) return;
    this.output.isPaused = true;
    this.terminal.pause();
  }

  resume(): void {
    this.output.isPaused = false;
    if (!this.ended) this.terminal.resume();
  }

  /**
   * Ends everything in this epoch and removes its folder. Reports what had ended before, and nothing more.
   * @returns the processes that could not be ended
   */
  async end(): Promise<number[]> {
    this.ending = true;
    const left = await killTree({
      kind: this.options.treeKill,
      leader: this.isLeaderGone ? undefined : this.leader,
      terminal: `/proc/self/fd/${this.slave}`,
      mark: this.mark,
      ownShell: this.rc,
    });
    await this.readRest();
    this.output.end();
    this.ended = true;
    this.endCommand();
    this.ready();
    this.tools.close();
    this.closeChannels();
    removeQuietly(this.options.directory);
    return left;
  }

  /** What was printed and not read, as in a terminal that is paused: not more than the kernel holds for it. */
  private async readRest(): Promise<void> {
    this.isTreeGone = true;
    this.resume();
    // Each turn reads 4 kB at most, and the first may be one that has asked the kernel already.
    let quiet = 0;
    for (let turns = 0; quiet < 2 && turns < MAX_REST_TURNS; turns++) {
      const before = this.output.bytes;
      await nextTurn();
      quiet = this.output.bytes === before ? quiet + 1 : 0;
    }
  }

  private closeChannels(): void {
    // The first one is its socket's, once it has one.
    for (const fd of this.channels.splice(0).slice(this.up ? 1 : 0)) closeSync(fd);
    this.up?.destroy();
    this.covers?.close();
  }

  private spawn(env: Record<string, string>): pty.IPty {
    const { directory, cwd, treeKill, sandbox } = this.options;
    const bash = [
      ...shellCommand(treeKill),
      ...['bash', '--noprofile', '--noediting', '--rcfile', this.rc, '-i'],
    ];
    const init = [sandbox ? '/bin/sh' : 'sh', shellAsset('init.sh'), directory, ...bash];
    const [file = '', ...args] = sandbox
      ? sandbox.shell(directory, init)
      : [...treeCommand(treeKill), ...init];
    const size = { cols: COLUMNS, rows: ROWS };
    const terminal = pty.spawn(file, args, {
      ...{ name: 'xterm-256color', ...size, env, encoding: null },
      // Outside programs do not start in a folder that code inside can write; the sandbox then enters the workspace.
      cwd: sandbox ? '/' : cwd,
    });
    // With `encoding: null` the data are Buffers, which node-pty's types do not say.
    terminal.onData((data) => {
      if (!this.ended) this.output.push(data as unknown as Buffer);
    });
    terminal.onExit(() => this.onLeaderExit());
    this.slave = heldOpen(terminal);
    this.channels.push(this.slave);
    return terminal;
  }

  private driver(fence: string): string {
    const head = `__hf_dir=${quote(this.options.directory)} __hf_fence=${quote(fence)} __hf_nonce=${this.nonce}\n`;
    return head + readFileSync(shellAsset('driver.bash'), 'utf8');
  }

  private onReport(line: string): void {
    // A dying shell's own report would hide who ended it.
    if (this.ending) return;
    const [kind, first, second] = line.split(' ');
    if (kind === 'T') {
      this.lines.keep(first ?? '');
    } else if (kind === 'B') {
      if (first === String(this.commands)) this.take();
    } else if (kind === 'X') {
      this.endCommand();
      this.output.afterFence(() => this.shellEnded(Number(first)));
    } else if (kind === 'E' && first === '-') {
      // Wait for its fence: a late one would be taken for the first command's.
      this.output.afterFence(() => this.ready());
    } else if (kind === 'E' && first === String(this.commands) && !this.hasEnded) {
      // A Ctrl-C lets bash report it again.
      this.endCommand();
      this.lines.restore(this.ttyPath, this.shellPid);
      this.output.afterFence(() => this.events?.onCommandEnd(Number(second)));
    }
  }

  private onLeaderExit(): void {
    this.isLeaderGone = true;
    // Only a kill from outside ends the leader while the epoch lives.
    if (!this.ending) this.shellEnded(128 + 9);
  }

  /** Ends the shell, which could now see or change what its sandbox should hide or protect. */
  private uncovered(path: string): void {
    if (this.ending || this.isLeaderGone) return;
    const notice = `\r\n[${path} was replaced outside, so the sandbox no longer covers it: this shell has been ended]\r\n`;
    this.events?.onOutput(Buffer.from(notice));
    // Its namespace goes with it. A spare has no session to open another shell: its holder exits.
    signal(this.leader, 'SIGKILL');
    if (!this.events) process.kill(process.pid, 'SIGTERM');
  }

  private shellEnded(exitCode: number): void {
    this.output.end();
    // A shell that failed to start must not keep its first command waiting.
    this.isDown = true;
    this.endCommand();
    this.ready();
    this.events?.onShellEnd(exitCode);
  }
}
