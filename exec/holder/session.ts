// One session inside its holder: the current shell, its command, and its waiting observers. All state changes of a
// session happen here, one at a time.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { KilledBy, Waiting } from '../../contracts/sessions/session';
import { begunCommand, checkContent, CommandRecords, nextEpoch, writtenTo } from '../command-records';
import { identitiesOf, isAlive, type Identity } from '../../system/processes/process-identity';
import type {
  CommandRecord,
  InputRequestFrame,
  ObserveReason,
  Snapshot,
  TerminalSize,
  Until,
  Verbs,
} from '../protocol';
import type { Sandbox } from '../sandbox/sandbox';
import type { SessionPaths } from '../session-paths';
import { containment, type HolderConfig } from '../holder-config';
import { asStorageFailure, withEffect } from '../../system/storage-failure';
import { Changes } from './changes';
import { SessionInBand } from './in-band/in-band-session';
import { InputWriter } from './shell/input-writer';
import type { Facts } from './waiting/observer';
import { OutputLog } from './output-log';
import { InTurn } from './in-turn';
import { RememberedInputs, RememberedResets } from './remembered-inputs';
import { Prompts } from './waiting/prompts';
import type { Shell } from './shell/shell';
import { ShellLives, type Life } from './shell/shell-life';
import { SessionSecrets } from './session-secrets';
import type { SpareShell } from './shell/spare-shell';
import { fatalSignal } from '../processes/signal-name';
import { ProgramTerminal } from './terminal/program-terminal';
import { ToolCalls } from './calls/tool-calls';
import type { CommandTools } from './shell/tools-script';
import { bySteadyClock, whenDecided } from './waiting/when-decided';

type End = Pick<CommandRecord, 'exitCode'> & Partial<Pick<CommandRecord, 'signal' | 'killedBy' | 'missing'>>;

export class Session {
  readonly secrets = new SessionSecrets();
  readonly toolCalls: ToolCalls;
  private readonly inBand: SessionInBand;
  private readonly log: OutputLog;
  private readonly records: CommandRecords;
  readonly changes = new Changes();
  private readonly inputs = new RememberedInputs();
  private readonly resets = new RememberedResets();
  private readonly prompts: Prompts;
  private readonly lives: ShellLives;
  private life: Life | null = null;
  private shellLives = false;
  private epoch: number;
  private command: CommandRecord | null = null;
  private running = false;
  /** The token that scripts of the last command show; null if they may call nothing. */
  private token: string | null = null;
  private flush = false;
  /** By the steady clock, like the time of the last output: the other one may be set. */
  private startedAt = 0;
  private lastOutputAt = 0;
  /** How the command ended, while its last output waits for the disk. */
  private heldEnd: End | null = null;
  private survivors: Identity[] = [];
  private readonly turns = new InTurn();
  /** What programs ask of their terminal, and leave in it. */
  readonly terminal: ProgramTerminal;

  constructor(
    private readonly config: HolderConfig,
    paths: SessionPaths,
    sandbox: Sandbox | undefined,
    spare: SpareShell | null = null,
  ) {
    this.prompts = new Prompts(config.session);
    this.lives = new ShellLives(config, paths, sandbox, spare);
    this.records = new CommandRecords(paths.commands);
    const latest = this.records.latest();
    this.epoch = nextEpoch(paths, latest);
    this.log = new OutputLog(paths.log, config.logBytes, latest ? writtenTo(latest) : 0);
    // An earlier holder began it: whatever became of it, it does not run here.
    this.command = latest ? this.records.settleLost(latest, this.log.end) : null;
    this.terminal = new ProgramTerminal(paths.log, {
      tty: () => this.receiver?.shell.ttyPath,
      type: (bytes) => this.answer(bytes),
    });
    this.toolCalls = new ToolCalls(this.epoch, this.secrets.mask);
    this.inBand = new SessionInBand(config.session, this.toolCalls, {
      type: (bytes) => this.answer(bytes),
      release: (text) => (this.record(this.secrets.mask.push(text)), this.changes.notify()),
    });
  }

  get isRunning(): boolean {
    return this.running;
  }

  /** Whether all output and the ends of all commands are in their files. */
  get isWritten(): boolean {
    return !this.log.isStalled && this.records.fault === null;
  }

  /** Where the next command begins. */
  folder = (): string | null => (this.shellLives && this.life ? this.life.shell.folder : this.config.cwd);

  /** Before somebody reads it: what others have removed is written back, or recorded as lost. */
  restoreLog(): void {
    this.log.restore();
  }

  snapshot(command = this.command): Snapshot {
    this.restoreLog();
    return {
      command,
      epoch: this.epoch,
      end: this.log.end,
      waiting: command?.id === this.command?.id ? this.waiting : null,
      ...containment(this.config),
      degraded: this.log.fault ?? this.records.fault,
      survivors: this.survivors.filter(isAlive).map(({ pid }) => pid),
    };
  }

  /** What attached people get at each change: part of `snapshot`, without a look at the log's files. */
  get place(): Pick<Snapshot, 'command' | 'epoch' | 'end'> {
    return { command: this.command, epoch: this.epoch, end: this.log.end };
  }

  /** Starts a command, or returns the record of an earlier one with this id. */
  run(request: Verbs['run']['request']): Promise<Snapshot> {
    return this.turns.run(async () => {
      const known = withEffect('nothing was run', () => this.known(request.id));
      if (known) {
        checkContent(known, request.contentHash);
        return this.snapshot(known);
      }
      if (this.running) {
        throw new HoldfastError('busy', { session: this.config.session, from: this.command?.from ?? 0 });
      }
      try {
        await this.start(request);
      } catch (err) {
        throw asStorageFailure(err, 'nothing was run');
      }
      return this.snapshot();
    });
  }

  observe(until: Until, abort: AbortSignal): Promise<{ reason: ObserveReason; snapshot: Snapshot }> {
    const observedSince = performance.now();
    return whenDecided(bySteadyClock(until), abort, {
      facts: () => this.facts(observedSince),
      onChange: (check) => this.changes.onChange(check),
      snapshot: () => this.snapshot(),
    });
  }

  /** Where typing goes; null if nothing runs that could read it, also while the end of a command is not reported yet. */
  private get receiver(): Life | null {
    return this.running && this.shellLives && !this.life?.shell.hasEnded ? this.life : null;
  }

  /** Types into the running process. Repeating an id types nothing. */
  async input(request: Verbs['input']['request']): Promise<Verbs['input']['answer']> {
    const at = await this.inputs.once(request, () => {
      const life = this.receiver;
      if (!life) throw new HoldfastError('no_running_process', { session: this.config.session });
      return { at: this.log.end, typed: this.type(request, life) };
    });
    return { at, snapshot: this.snapshot() };
  }

  private async type({ text, enter, keys, prompt }: InputRequestFrame, life: Life): Promise<void> {
    const { command } = this;
    await life.shell.untilTaken();
    await life.input.type(text && this.secrets.fill(text), keys, enter, () => {
      if (this.receiver !== life || this.command?.id !== command?.id)
        throw new HoldfastError('no_running_process', { session: this.config.session });
      // In one step with the typing: an input that types nothing after all answers no prompt.
      this.prompts.checkOpen(prompt, command?.id);
      this.answered(life);
    });
    // Not once the command is over: to look at an idle session costs something.
    this.receiver?.watch.touch();
  }

  private answered({ watch }: Life): void {
    this.flush = true;
    this.prompts.answered(this.waiting !== null, watch.since);
    watch.typing();
  }

  /** Raw bytes from a person at the terminal, recorded nowhere. False if nothing runs that could read them, or reads. */
  typeRaw(bytes: Buffer): boolean {
    const life = this.receiver;
    if (!life?.input.hasRoomFor(bytes)) return false;
    this.answered(life);
    const { input, shell, watch } = life;
    void shell.untilTaken().then(() => this.receiver === life && input.raw(bytes));
    watch.touch();
    return true;
  }

  /** Lets scripts that only the terminal of the running command reaches call tools. */
  arm(request: Verbs['arm']['request'], over: AbortSignal): Promise<Verbs['arm']['answer']> {
    return this.inBand.arm(request, this.receiver && this.token, over);
  }

  /** The terminal's size, also in later epochs; null for the default. */
  resize(size: TerminalSize | null): void {
    this.terminal.wantedSize = size;
    this.life?.shell.resize(this.terminal.size);
  }

  /** Ends the whole tree; the next command begins in a fresh shell. Repeating an id does nothing. */
  reset({ id, reason, by }: Verbs['reset']['request']): Promise<Snapshot> {
    return this.turns.run(async () => {
      if (!this.resets.isFirst(id, reason)) return this.snapshot();
      await this.endLife({ by, reason });
      return this.snapshot();
    });
  }

  private known(id: string): CommandRecord | undefined {
    return this.command?.id === id ? this.command : this.records.read(id);
  }

  private async ensureLife(): Promise<Life> {
    if (this.life && this.shellLives) return this.life;
    if (this.life) await this.endLife(null);
    this.life = this.lives.open(this.epoch, this.terminal.wantedSize, {
      onOutput: (data, shell) => this.onOutput(data, shell),
      onCommandEnd: (exitCode) => this.finishWhenWritten({ exitCode }),
      onShellEnd: (exitCode) => this.onShellEnd(exitCode),
      onWaiting: (shell) => this.onWaiting(shell),
    });
    this.shellLives = true;
    return this.life;
  }

  private async start(request: Verbs['run']['request']): Promise<void> {
    // Its output would begin after bytes that are not written yet.
    if (this.log.fault !== null) throw new HoldfastError('storage_failed', { reason: this.log.fault });
    const life = await this.ensureLife();
    this.record(Buffer.from(this.terminal.takeUndo()), life.shell);
    const before = this.command;
    const command = this.begin(request, life.isUnused && this.epoch > 1);
    life.watch.touch();
    try {
      const tools = this.toolsFor(request);
      const { flush, secrets } = this;
      const handOver = await life.shell.prepare({ ...request, tools, flush, secrets });
      // The shell has ended, and the command with it.
      if (!handOver) return;
      // From here on this id never runs again, whatever crashes, or if the power fails; before, nothing of it can have run.
      this.records.write(command);
      handOver();
      this.flush = false;
      life.isUnused = false;
    } catch (err) {
      // It was not handed over: the session is free, and the same id may be sent again.
      this.running = false;
      life.watch.stop();
      life.shell.endCommand();
      this.command = before;
      this.records.remove(command);
      this.changes.notify();
      throw err;
    }
  }

  private toolsFor({ id, tools: folder }: Verbs['run']['request']): CommandTools | null {
    this.token = null;
    if (folder === undefined) return null;
    this.token = this.toolCalls.issue(id);
    return { folder, socketPath: this.config.socketPath, token: this.token };
  }

  private begin({ id, runtime, contentHash }: Verbs['run']['request'], freshShell: boolean): CommandRecord {
    const where = { epoch: this.epoch, freshShell, from: this.log.end };
    const command = begunCommand({ id, contentHash, runtime, ...where });
    this.command = command;
    this.startedAt = performance.now();
    this.prompts.clear();
    this.running = true;
    return command;
  }

  /** A command is over once all of its output can be read. */
  private finishWhenWritten(end: End): void {
    this.record(this.secrets.mask.end(this.inBand.end()));
    // Looked up now: a reset removes the epoch's files before it reports a held end.
    const lacks = this.running ? this.life?.shell.missingModules(end.exitCode) : undefined;
    if (lacks) this.record(Buffer.from(`${lacks.text}\r\n`));
    const known = { ...end, missing: lacks?.missing };
    // The first end counts: a shell that dies later did not end the command.
    if (this.running && this.log.isStalled) this.heldEnd ??= known;
    else this.finish(known);
  }

  private finish(end: End): void {
    if (!this.running || !this.command) return;
    this.running = false;
    this.heldEnd = null;
    this.life?.watch.stop();
    this.life?.input.stop();
    if (this.life) this.life.input = new InputWriter(this.life.shell);
    const { exitCode, signal = null, killedBy = null, missing } = end;
    const ending = { to: this.log.accepted, exitCode, signal, killedBy, endedAt: Date.now() };
    this.command = { ...this.command, ...ending, ...(missing && { missing }) };
    this.records.settle(this.command);
    this.log.sync();
    this.changes.notify();
  }

  private onShellEnd(exitCode: number): void {
    const signal = exitCode > 128 ? fatalSignal(exitCode - 128) : undefined;
    const killedBy: KilledBy | null = signal ? { by: 'signal', reason: signal } : null;
    this.shellLives = false;
    this.finishWhenWritten({ exitCode, signal, killedBy });
  }

  private onWaiting(shell: Shell): void {
    // Nothing drives the other shell: our command is over, and the next one begins in a shell of ours.
    if (this.life?.watch.current && shell.isReplaced) {
      shell.endCommand();
      this.onShellEnd(0);
    }
    this.changes.notify();
  }

  private async endLife(killedBy: KilledBy | null): Promise<void> {
    const { life } = this;
    if (!life) return this.lives.endSpare();
    this.shellLives = false;
    life.input.stop();
    this.record(this.secrets.mask.push(this.inBand.end()));
    const wasRunning = this.running && !life.shell.hasEnded ? this.command : null;
    // Set before the kill: a dying bash may report its own exit first.
    if (wasRunning) this.command = { ...wasRunning, killedBy };
    life.watch.stop();
    const left = await life.shell.end();
    this.record(this.secrets.mask.end());
    if (this.heldEnd) this.finish(this.heldEnd);
    this.survivors = [...this.survivors.filter(isAlive), ...identitiesOf(left)];
    this.life = null;
    this.epoch += 1;
    this.toolCalls.endEpoch(killedBy?.reason ?? `the shell that ran it has ended`);
    if (wasRunning) {
      this.running = true;
      this.finish({ exitCode: null, signal: 'SIGKILL', killedBy });
    }
    this.changes.notify();
  }

  private onOutput(data: Buffer, shell: Shell): void {
    this.lastOutputAt = performance.now();
    this.record(this.secrets.mask.push(this.inBand.pass(data)), shell);
    this.receiver?.watch.touch();
    this.changes.notify();
  }

  private record(text: Buffer, shell = this.life?.shell): void {
    if (text.length === 0 || !shell) return;
    this.prompts.add(text);
    const from = this.log.accepted;
    this.log.append(text, () => this.onSpace(shell));
    this.terminal.push(text, from);
    if (this.log.isStalled) shell.pause();
  }

  /** Types the answer to a script's call. False if the answers are not read. */
  private answer(bytes: Buffer): boolean {
    const life = this.receiver;
    if (!life) return true;
    this.flush = true;
    life.watch.typing();
    life.watch.touch();
    return life.input.answer(bytes);
  }

  /** A program that waits for a tool is not waiting for typing. */
  private get waiting(): Waiting | null {
    return this.running && !this.inBand.isCalling ? (this.life?.watch.current ?? null) : null;
  }

  private onSpace(shell: Shell): void {
    shell.resume();
    if (this.heldEnd) this.finish(this.heldEnd);
    this.changes.notify();
  }

  private facts(observedSince: number): Facts {
    const { running, startedAt, lastOutputAt, waiting } = this;
    const waitingSince = this.life?.watch.steadySince ?? 0;
    const times = { now: performance.now(), startedAt, lastOutputAt, waitingSince, observedSince };
    return { ...times, running, end: this.log.end, waiting, promptIsBack: this.prompts.isBack };
  }
}
