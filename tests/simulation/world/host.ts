// A model of a host: the activities of its worker, in the steps of activities/host/host-calls.ts, over model terminals.
// Between any two steps something else may happen. Which resets and closes were carried out is kept by the real code.
import { NOT_RUN } from '../../../contracts/sessions/not-run';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { SessionRef } from '../../../contracts/ids';
import { SESSION_MESSAGES } from '../../../contracts/messages/to-sessions';
import type {
  CloseSessionInput,
  OpenSessionInput,
  ReadOutputInput,
  ResetSessionInput,
  RunCommandInput,
  SendInputInput,
  SendInputsInput,
  WaitForSessionsInput,
  Yielded,
} from '../../../contracts/sessions/host';
import { ClosedRuns } from '../../../activities/host/closed-runs';
import { SessionResets } from '../../../activities/host/session-resets';
import type { Agenda, Life } from '../server/agenda';
import type { SimulatedServer } from '../server/server';
import type { Activities, Work } from './activity-worker';
import type { Clients } from './client';
import type { Facts } from './facts';
import { Scripts } from './scripts';
import { programOf, Terminal, type CommandRecord, type Program } from './terminal';

/** What the next worker needs to follow a command: it is on the disk. */
interface JournalEntry {
  token: string;
  workflowId: string;
  command: string;
  terminal: Terminal;
  hasYielded: boolean;
  isAgain: boolean;
}

const HEARTBEAT_MS = 4_000;
/** How long a command runs before its session is told that it goes on. */
const YIELD_MS = 30_000;
const REPLACED = 'another command takes its place';
export const APPROVAL_MS = 600_000;

export class ModelHost {
  private readonly terminals = new Map<string, Terminal>();
  private readonly journal = new Map<string, JournalEntry>();

  private readonly scripts: Scripts;

  constructor(
    private readonly agenda: Agenda,
    private readonly server: SimulatedServer,
    private readonly facts: Facts,
    clients: Clients,
  ) {
    this.scripts = new Scripts(agenda, server, clients, facts);
  }

  /** The holders die, and what runs in them. */
  loseTerminals(): void {
    for (const terminal of this.terminals.values()) terminal.lose();
  }

  /** Programs that run until somebody ends them are ended. */
  endPrograms(): void {
    for (const terminal of this.terminals.values())
      // A script waits for its calls, and these for nobody for ever.
      if (terminal.running && programOf(terminal.running.code) !== 'calls') terminal.end(0);
  }

  /** The activities of one life of its worker, which goes on with what the last one has left running. */
  activities = (life: Life): Activities => {
    const memory = { closed: new ClosedRuns(), resets: new SessionResets() };
    for (const entry of this.journal.values()) this.follow({ ...entry, isAgain: true }, life);
    return {
      runCommand: (work, input: RunCommandInput) => this.runCommand(work, input, memory),
      openSession: (work, { ref }: OpenSessionInput) =>
        work.then(`shell of ${nameOf(ref)} opens`, () => {
          memory.closed.refuse(ref);
          this.terminal(ref).open();
          work.complete(this.terminal(ref).view());
        }),
      sendInput: (work, input: SendInputInput) => this.sendInput(work, input),
      sendInputs: (work, input: SendInputsInput) => this.sendInputs(work, input),
      readOutput: (work, input: ReadOutputInput) => this.readOutput(work, input),
      waitForSessions: (work, input: WaitForSessionsInput) => this.waitForSessions(work, input),
      resetSession: (work, { ref, resetId, reason, number }: ResetSessionInput) => {
        memory.resets.add(number, `the session was reset${reason === null ? '' : `: ${reason}`}`);
        work.then(`${nameOf(ref)} is reset`, () => {
          this.terminal(ref).reset(resetId, reason, 'reset');
          work.then(`reset of ${nameOf(ref)} is told`, () => work.complete(this.terminal(ref).view()));
        });
      },
      closeSession: (work, { ref, reason }: CloseSessionInput) => {
        memory.closed.add(reason);
        work.then(`${nameOf(ref)} is closed`, () => {
          this.terminal(ref).close(reason);
          work.complete();
        });
      },
    };
  };

  private runCommand(
    work: Work,
    input: RunCommandInput,
    { closed, resets }: { closed: ClosedRuns; resets: SessionResets },
  ): void {
    const { ref, commandId: id, code, cleared, over } = input;
    const terminal = this.terminal(ref);
    const refuseReset = resets.arrived(ref, input.resets);
    const mayBegin = (): void => {
      closed.refuse(ref);
      refuseReset();
    };
    const begin = (): void => {
      if (!terminal.record(id)) mayBegin();
      const record = terminal.begin(id, code, cleared);
      work.then(`${id} is written down`, () => this.hand(work, input, terminal, record));
    };
    if (terminal.record(id)) return begin();
    if (over !== undefined) throw new HoldfastError('not_begun', { session: ref.session, reason: over });
    work.then(`the checks look at ${id}`, () => {
      const held = heldOf(input);
      if (held && cleared !== held.hash) return work.complete({ held });
      if (input.reset) {
        mayBegin();
        resets.add(input.resets, REPLACED);
        work.then(`${nameOf(ref)} is reset for ${id}`, () => {
          terminal.reset(`${id}/reset`, REPLACED, 'reset');
          work.then(`${id} begins`, begin);
        });
      } else work.then(`${id} begins`, begin);
    });
  }

  /** Its activity is completed at the command's end, by whichever worker there is then. */
  private hand(work: Work, input: RunCommandInput, terminal: Terminal, record: CommandRecord): void {
    const { commandId: command, workflowId } = input;
    if (record.hasEnded) return work.complete(terminal.view(record));
    work.leave();
    const { token } = work.attempt;
    const isAgain = this.journal.has(keyOf(terminal, command));
    this.follow({ token, workflowId, command, terminal, hasYielded: false, isAgain }, work.life);
  }

  private follow(entry: JournalEntry, life: Life): void {
    const { terminal, command, token } = entry;
    const key = keyOf(terminal, command);
    this.journal.set(key, entry);
    const isMine = (): boolean => this.journal.get(key) === entry;
    const look = (): void => {
      const record = terminal.record(command);
      if (!isMine() || life.isOver) return;
      if (!record?.hasEnded) return terminal.onChange(look);
      this.agenda.add(
        `end of ${command} is told`,
        () => {
          this.server.completeActivity(token, terminal.view(record));
          if (isMine()) this.journal.delete(key);
        },
        life,
      );
    };
    const beat = (): void => {
      if (!isMine()) return;
      const how = this.server.heartbeat(token);
      if (how === 'is-gone') this.journal.delete(key);
      else if (how === 'is-cancelled')
        terminal.reset(`cancel-${command}`, 'the activity was cancelled', 'cancelled');
      else this.agenda.after(HEARTBEAT_MS, `${command} beats`, beat, life);
    };
    const record = terminal.record(command);
    if (record && !record.hasEnded) this.endSome(terminal, record, life);
    if (record && programOf(record.code) === 'calls')
      this.scripts.follow(terminal, record, entry.workflowId, life);
    this.tellYield(entry, life);
    look();
    beat();
  }

  /** Programs that need nobody end by themselves. */
  private endSome(terminal: Terminal, record: CommandRecord, life: Life): void {
    const program = programOf(record.code);
    if (program === 'long' || program === 'asks' || program === 'calls') return;
    this.agenda.add(
      `${record.id} ends`,
      () => {
        if (terminal.running === record) terminal.end(this.exitCodeOf(terminal, record, program));
      },
      life,
    );
  }

  private exitCodeOf(terminal: Terminal, { id }: CommandRecord, program: Program): number {
    if (program === 'imports' && !terminal.hasPackage) return NOT_RUN;
    if (program === 'fails') return 3;
    if (!id.includes('/install/')) return 0;
    // Some packages cannot be installed.
    terminal.hasPackage = !/[05]\//.test(id);
    return terminal.hasPackage ? 0 : 1;
  }

  private tellYield(entry: JournalEntry, life: Life): void {
    const { terminal, command, workflowId } = entry;
    const tell = (): void => {
      const record = terminal.record(command);
      if (entry.hasYielded || !record || record.hasEnded) return;
      const isAsking = programOf(record.code) === 'asks';
      const view = terminal.view(record, isAsking ? 'waiting_input' : 'first_output');
      const yielded: Yielded = { commandId: command, view, ...(entry.isAgain && { later: true }) };
      // It may have ended since: nobody listens then.
      this.server.signalIfOpen(workflowId, SESSION_MESSAGES.yielded.name, yielded);
      this.agenda.add(`yield of ${command} is written down`, () => void (entry.hasYielded = true), life);
    };
    this.agenda.after(YIELD_MS, `yield of ${command} is told`, tell, life);
  }

  private sendInput(work: Work, { ref, inputId, keys, yield: waits }: SendInputInput): void {
    const terminal = this.terminal(ref);
    work.then(`${inputId} is typed`, () => {
      if (!terminal.type(inputId, keys))
        throw new HoldfastError('no_running_process', { session: ref.session });
      const answer = (): void => work.complete(terminal.view());
      if (waits) work.then(`${inputId} is answered`, answer);
      else answer();
    });
  }

  private sendInputs(work: Work, { ref, inputs }: SendInputsInput): void {
    const terminal = this.terminal(ref);
    work.then(`${inputs.length} inputs are typed`, () => {
      const refused = inputs.filter(({ inputId, keys }) => !terminal.type(inputId, keys));
      work.then('inputs are told', () =>
        work.complete({ view: terminal.view(), refused: refused.map(({ inputId }) => inputId) }),
      );
    });
  }

  private readOutput(work: Work, { ref, wait, waitMs }: ReadOutputInput): void {
    const terminal = this.terminal(ref);
    const answer = (): void => work.complete(terminal.view());
    if (wait) this.until(work, terminal, waitMs, answer);
    else work.then(`a look at ${nameOf(ref)}`, answer);
  }

  private waitForSessions(work: Work, { ref, waitMs }: WaitForSessionsInput): void {
    const terminal = this.terminal(ref);
    this.until(work, terminal, waitMs, () =>
      work.complete({ met: !terminal.running, sessions: [{ reason: 'exit', view: terminal.view() }] }),
    );
  }

  /** The end of what runs there, or so much time. */
  private until(work: Work, terminal: Terminal, ms: number, answer: () => void): void {
    let isOver = false;
    const once = (): void => {
      if (isOver) return;
      isOver = true;
      answer();
    };
    const look = (): void => {
      if (terminal.running) terminal.onChange(look);
      else work.then('a wait ends', once);
    };
    look();
    work.later(ms, 'a wait expires', once);
  }

  private terminal(ref: SessionRef): Terminal {
    const name = nameOf(ref);
    const terminal = this.terminals.get(name) ?? new Terminal(ref, name, this.facts, () => this.agenda.nowMs);
    this.terminals.set(name, terminal);
    return terminal;
  }
}

const nameOf = ({ agent, host, session }: SessionRef): string => `exec/${agent}/${host}/${session}`;
const keyOf = (terminal: Terminal, command: string): string => `${terminal.name} ${command}`;

/** The policy of every host: code that says so is asked about, or denied. */
function heldOf({
  code,
  ref,
}: RunCommandInput): { hash: string; reasons: object[]; expiresMs: number; place: object } | null {
  if (code.includes('denied')) throw new HoldfastError('policy_denied', { reasons: 'denied' });
  if (!code.includes('risky')) return null;
  const place = { host: ref.host, cwd: null };
  return {
    hash: `hash of ${code}`,
    reasons: [{ rule: 'risky', found: code }],
    expiresMs: APPROVAL_MS,
    place,
  };
}
