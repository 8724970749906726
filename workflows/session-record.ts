// What an exec session knows of itself, as plain data that goes over continue-as-new, and its pure changes.
import type { SessionRef } from '../contracts/ids';
import type { CommandView, Runtime, SessionInput, SessionState, YieldSettings } from '../contracts/session';
import { DEFAULT_YIELD } from '../contracts/session';

/** Input ids that are remembered for "typed before", over continue-as-new too. */
const REMEMBERED_INPUTS = 500;
const REMEMBERED_READERS = 16;
const REMEMBERED_REFUSALS = 5;

export interface RunningCommand {
  id: string;
  runtime: Runtime;
  code: string;
  startedAt: number;
  yield: YieldSettings;
  /** Answer of the exec update that comes before the end. */
  yielded: CommandView | null;
}

export interface SessionRecord {
  ref: SessionRef;
  cwd: string | null;
  idleMs: number;
  yield: YieldSettings;
  command: RunningCommand | null;
  view: CommandView | null;
  readers: Record<string, number>;
  inputIds: string[];
  /** Numbers the messages that came without an id. */
  sequence: number;
  refused: string[];
}

const DAY_MS = 24 * 3_600_000;

export function newSessionRecord(ref: SessionRef, input: SessionInput): SessionRecord {
  return {
    ref,
    cwd: input.cwd ?? null,
    idleMs: input.idleMs ?? DAY_MS,
    yield: { ...DEFAULT_YIELD, ...input.yield },
    command: null,
    view: null,
    readers: {},
    inputIds: [],
    sequence: 0,
    refused: [],
  };
}

/** True the first time; an id that was seen before is a repetition. */
export function rememberInput(record: SessionRecord, id: string): boolean {
  if (record.inputIds.includes(id)) return false;
  record.inputIds.push(id);
  if (record.inputIds.length > REMEMBERED_INPUTS) record.inputIds.shift();
  return true;
}

export function forgetInput(record: SessionRecord, id: string): void {
  record.inputIds = record.inputIds.filter((known) => known !== id);
}

/** Takes note of a view: the session's last known one, and how far its reader has been given output. */
export function showView(record: SessionRecord, view: CommandView, reader?: string): void {
  record.view = view;
  if (!reader) return;
  // Written anew, so that the first name is the one that was longest without a look.
  delete record.readers[reader];
  record.readers[reader] = view.to;
  const names = Object.keys(record.readers);
  if (names.length > REMEMBERED_READERS) delete record.readers[names[0] ?? ''];
}

export function recordRefusal(record: SessionRecord, message: string): void {
  record.refused.push(message);
  if (record.refused.length > REMEMBERED_REFUSALS) record.refused.shift();
}

export function sessionState(record: SessionRecord, phase: 'open' | 'draining' | 'closed'): SessionState {
  const { ref, command, view, readers, refused } = record;
  const busy =
    view?.commandId === command?.id && view?.state === 'waiting_input' ? 'waiting_input' : 'running';
  return {
    ...ref,
    status: phase !== 'open' ? phase : command ? busy : 'idle',
    epoch: view?.epoch ?? 1,
    command: command && {
      id: command.id,
      runtime: command.runtime,
      startedAt: new Date(command.startedAt).toISOString(),
    },
    view,
    readers,
    refused,
  };
}
