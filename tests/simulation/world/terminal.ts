// A model of one session's holder and its files: what runs in its shell, and the records that outlive the shell.
import { NOT_RUN } from '../../../contracts/sessions/not-run';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../../contracts/ids';
import type { CommandView, KilledBy, YieldReason } from '../../../contracts/sessions/session';
import type { Facts } from './facts';

/** What a command does is the first word of its code. */
export type Program = 'quick' | 'fails' | 'long' | 'asks' | 'calls' | 'imports';

export interface CommandRecord {
  id: string;
  code: string;
  epoch: number;
  hasEnded: boolean;
  exitCode: number | null;
  killedBy: KilledBy | null;
  isLost: boolean;
  startedAt: number;
}

export const programOf = (code: string): Program => (code.split(' ')[0] ?? 'quick') as Program;

export class Terminal {
  epoch = 0;
  isOpen = false;
  /** What scripts import is installed. */
  hasPackage = false;
  running: CommandRecord | null = null;
  private last: CommandRecord | null = null;
  private readonly records = new Map<string, CommandRecord>();
  private readonly inputs = new Set<string>();
  private readonly resets = new Set<string>();
  /** Called at the next change. */
  private watchers: (() => void)[] = [];

  constructor(
    readonly ref: SessionRef,
    readonly name: string,
    private readonly facts: Facts,
    private readonly now: () => number,
  ) {}

  record(id: string): CommandRecord | undefined {
    return this.records.get(id);
  }

  open(): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.epoch += 1;
  }

  /** Throws `busy` and `id_conflict`. A known id runs nothing. */
  begin(id: string, code: string, cleared: string | undefined): CommandRecord {
    const { session } = this.ref;
    const known = this.records.get(id);
    if (known && known.code !== code) throw new HoldfastError('id_conflict', { got: id });
    if (known) return known;
    if (this.running) throw new HoldfastError('busy', { session, from: 0 });
    this.open();
    const begun = { hasEnded: false, exitCode: null, killedBy: null, isLost: false, startedAt: this.now() };
    const record: CommandRecord = { id, code, epoch: this.epoch, ...begun };
    this.records.set(id, record);
    this.running = record;
    this.last = record;
    // Of a script whose imports are missing nothing is run.
    if (programOf(code) !== 'imports' || this.hasPackage)
      this.facts.add({ is: 'begun', command: id, of: this.name, code, cleared });
    this.changed();
    return record;
  }

  end(exitCode: number | null, killedBy: KilledBy | null = null, isLost = false): void {
    const { running } = this;
    if (!running) return;
    Object.assign(running, { hasEnded: true, exitCode, killedBy, isLost });
    this.running = null;
    const by = isLost ? 'host_lost' : (killedBy?.by ?? null);
    this.facts.add({ is: 'ended', command: running.id, of: this.name, exitCode, by });
    this.changed();
  }

  /** False if nothing runs. A known id types nothing. */
  type(id: string, keys: readonly string[]): boolean {
    if (this.inputs.has(id)) return true;
    const { running } = this;
    if (!running) return false;
    this.inputs.add(id);
    this.facts.add({ is: 'typed', input: id, of: this.name });
    if (keys.includes('ctrl-c')) this.end(130, { by: 'signal', reason: null });
    else if (programOf(running.code) === 'asks') this.end(0);
    return true;
  }

  reset(id: string, reason: string | null, by: KilledBy['by']): void {
    if (this.resets.has(id)) return;
    this.resets.add(id);
    this.end(null, { by, reason });
    if (this.isOpen) this.epoch += 1;
    this.facts.add({ is: 'reset', of: this.name, id });
  }

  close(reason: string | null): void {
    this.end(null, { by: 'closed', reason });
    this.isOpen = false;
    this.facts.add({ is: 'closed', of: this.name });
  }

  /** Its holder dies, and the shell with it. */
  lose(): void {
    this.end(null, null, true);
    this.isOpen = false;
  }

  onChange(work: () => void): void {
    this.watchers.push(work);
  }

  private changed(): void {
    const { watchers } = this;
    this.watchers = [];
    for (const work of watchers) work();
  }

  view(record: CommandRecord | null = this.last, yielded: YieldReason | null = null): CommandView {
    const ended = record ? (record.isLost ? 'lost' : 'exited') : 'exited';
    const waits = record !== null && !record.hasEnded && programOf(record.code) === 'asks';
    const at = record?.epoch ?? 0;
    const isMissing = record?.exitCode === NOT_RUN && programOf(record.code) === 'imports';
    return {
      session: this.ref.session,
      commandId: record?.id ?? null,
      state: record && !record.hasEnded ? (waits ? 'waiting_input' : 'running') : ended,
      exitCode: record?.exitCode ?? null,
      ...{ signal: null, killedBy: record?.killedBy ?? null, output: '', from: at, to: at, omittedBytes: 0 },
      ...{ epoch: Math.max(1, this.epoch), freshShell: false, yielded: record?.hasEnded ? null : yielded },
      waiting: waits ? { echo: true, certainty: 'certain' } : null,
      ...{ treeKill: 'pid-namespace', degraded: null, survivors: [] },
      durationMs: record ? this.now() - record.startedAt : 0,
      folderId: 'folder',
      ...(isMissing && { missing: [{ package: 'a-package', module: 'a_package', line: 1 }] }),
    };
  }
}
