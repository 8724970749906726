// The state of an exec session, as plain data that survives continue-as-new, and pure functions that change it.
import type { ApprovalsRecord } from '../../contracts/tools/approvals';
import type { With } from '../../contracts/errors/error-entry';
import { isErrorCode } from '../../contracts/errors/holdfast-error';
import type { CommandTrouble, RunCommandInput, SignalledInput, Yielded } from '../../contracts/sessions/host';
import type { SessionRef } from '../../contracts/ids';
import type { ExecRequest, SessionInput } from '../../contracts/schemas/session';
import type { CommandView, Runtime, SessionState, YieldSettings } from '../../contracts/sessions/session';
import { jsonBytes } from '../../contracts/payload-size';
import { label } from '../../contracts/text/labels';
import { recentOutput } from '../../contracts/sessions/recent-output';
import { DEFAULT_YIELD } from '../../contracts/sessions/session';
import { noticeId, type NoticeId } from '../../contracts/agents/notices';
import type { WorkState } from '../../contracts/agents/work-state';
import { newApprovals } from '../messages/approvals';
import type { KnownId } from '../messages/known-ids';
import type { ToolGrant } from '../../contracts/schemas/session';
import { isOpen } from '../../contracts/tools/call-state';
import { readCalls, type CallRecords, type SessionCalls } from './call-record';

const REMEMBERED_READERS = 16;
const REMEMBERED_REFUSALS = 5;
const LINE_CHARACTERS = 80;

export interface RunningCommand {
  id: string;
  runtime: Runtime;
  code: string;
  startedAt: number;
  yield: YieldSettings;
  /** The answer to the exec update, if it comes before the end. */
  yielded: CommandView | null;
  /** Why its state is unknown; absent if it is known. */
  trouble?: CommandTrouble | undefined;
  /** Ends what ran before it first. */
  reset?: boolean;
  checkImports?: boolean;
  /** What the host runs for it now: the command itself, an installation of what it imports, or its second run. */
  runId?: string;
  /** How many resets the session had asked for by then, its own included. */
  resets: number;
  /** Why nothing more of it may begin: the session was reset. */
  over?: string;
}

/** What people recognize a command by. */
export const firstLineOf = ({ code }: Pick<RunningCommand, 'code'>): string =>
  label(code.trim().split('\n')[0] ?? '', LINE_CHARACTERS);

/** A command accepted now, in workflow time. */
export const newCommand = (
  record: Pick<SessionRecord, 'yield' | 'resets'>,
  id: string,
  { runtime = 'terminal', code, yield: yielding, reset = false, checkImports = false }: ExecRequest,
): RunningCommand => ({
  id,
  runtime,
  code,
  startedAt: Date.now(),
  yield: { ...record.yield, ...yielding },
  yielded: null,
  ...(reset && { reset }),
  ...(checkImports && { checkImports }),
  resets: record.resets,
});

export const idOnHost = ({ id, runId }: RunningCommand): string => runId ?? id;

/** Whether a signal reports a command's state, or why it is unknown. */
export const isYielded = (said: Yielded | undefined): said is Yielded =>
  typeof said?.commandId === 'string' &&
  (typeof said.view?.state === 'string' || said.trouble === null || isErrorCode(said.trouble?.code));

/** What a command's scripts may call, and how much they have called. */
export interface CommandGrant extends ToolGrant {
  commandId: string;
  used: number;
}

export interface SessionRecord {
  ref: SessionRef;
  cwd: string | null;
  idleMs: number;
  yield: YieldSettings;
  command: RunningCommand | null;
  view: CommandView | null;
  readers: Record<string, number>;
  /** To recognise inputs that were already typed. */
  inputIds: KnownId[];
  /** Accepted commands and resets. */
  commandIds: KnownId[];
  resetIds: KnownId[];
  /** How often the session was to be reset, by a message or for a command: a host begins no command from before. */
  resets: number;
  /** Signalled inputs that are not typed yet. */
  queuedInputs: SignalledInput[];
  /** What the scripts of the last commands may call. */
  grants: CommandGrant[];
  /** Scripts' calls, by id, until the scripts have their answers; absent: none has called any. */
  calls?: SessionCalls;
  /** Pending approvals. */
  approvals: ApprovalsRecord;
  /** Numbers messages that came without an id. */
  sequence: number;
  refused: string[];
}

/** The same as continue-as-new carries it. */
export interface CarriedSession extends Omit<SessionRecord, 'calls'> {
  calls?: CallRecords;
}

const DAY_MS = 24 * 3_600_000;

export function readSession({ calls, ...rest }: CarriedSession): SessionRecord {
  return { ...rest, ...(calls && { calls: readCalls(calls) }) };
}

/** Continue-as-new carries a session in one payload of at most 2 MiB. */
const MAX_CARRIED_BYTES = 2_000_000;

/** The oldest grants are left out if not all fit, since each may name a thousand tools: their scripts then call no more. */
export function withFittingGrants({ grants, ...rest }: CarriedSession): CarriedSession {
  let room = MAX_CARRIED_BYTES - jsonBytes(rest);
  const tooOld = grants.findLastIndex((grant, index) => {
    room -= jsonBytes(grant);
    return room < 0 && index < grants.length - 1;
  });
  return { ...rest, grants: grants.slice(tooOld + 1) };
}

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
    commandIds: [],
    resetIds: [],
    resets: 0,
    queuedInputs: [],
    grants: [],
    approvals: newApprovals(),
    sequence: 0,
    refused: [],
  };
}

/**
 * The first data folder that reports the shell owns it: from then on no other may act on this session. Callers do not
 * see the folder.
 */
export function bindToFolder(ref: SessionRef, { folderId, ...view }: CommandView): CommandView {
  if (folderId !== undefined) ref.folderId ??= folderId;
  return view;
}

/**
 * The last known view of the command; null only where none has run. Before the host has sent a view, it says that the
 * command runs, and where its output begins is not known: the log of an earlier command ends there, or earlier.
 */
export function lastView(record: SessionRecord): CommandView | null {
  const { ref, command, view } = record;
  if (!command || view?.commandId === idOnHost(command)) return view;
  // None of it runs before its approval.
  if (record.approvals.waiting.some(({ id }) => id === idOnHost(command))) return view;
  const at = view?.to ?? 0;
  return {
    session: ref.session,
    commandId: idOnHost(command),
    state: 'running',
    exitCode: null,
    signal: null,
    killedBy: null,
    output: '',
    from: at,
    to: at,
    omittedBytes: 0,
    epoch: view?.epoch ?? 1,
    freshShell: false,
    yielded: null,
    waiting: null,
    treeKill: view?.treeKill ?? 'process-search',
    degraded: null,
    survivors: [],
    durationMs: Date.now() - command.startedAt,
    unseen: true,
  };
}

/** Records a view as the session's last known one, and how far its reader has read. */
export function showView(record: SessionRecord, view: CommandView, reader?: string): void {
  record.view = view;
  if (!reader) return;
  // Deleted and re-added, so that the first name is the one that has not read for longest.
  delete record.readers[reader];
  record.readers[reader] = view.to;
  const names = Object.keys(record.readers);
  if (names.length > REMEMBERED_READERS) delete record.readers[names[0] ?? ''];
}

export function recordRefusal(record: SessionRecord, message: string): void {
  record.refused.push(message);
  if (record.refused.length > REMEMBERED_REFUSALS) record.refused.shift();
}

const isHeld = ({ approvals }: SessionRecord): boolean => approvals.waiting.length > 0;

function statusOf(record: SessionRecord): 'idle' | 'running' | 'waiting_input' | 'waiting_approval' {
  const { command, view } = record;
  if (!command) return 'idle';
  if (isHeld(record)) return 'waiting_approval';
  const isAtPrompt = view?.commandId === idOnHost(command) && view.state === 'waiting_input';
  return isAtPrompt ? 'waiting_input' : 'running';
}

/** For lists: a command counts as running once it outlives its yield, because most end before it. */
export function workStateOf(record: SessionRecord): WorkState {
  const status = statusOf(record);
  const isBrief = status === 'running' && !record.command?.yielded;
  // Also a background script's call, while no command runs.
  const waitsFor = isHeld(record) ? 'approval' : status === 'waiting_input' ? 'input' : 'none';
  return { state: isBrief ? 'idle' : status, waitsFor };
}

/** Whom it waits for, and what is lost; the same again has the same id. */
export function noticesOf(record: SessionRecord): NoticeId[] {
  const { command, view, approvals } = record;
  const held = approvals.waiting.map(({ id }) => noticeId('approval', id));
  if (view?.state === 'lost') return [...held, noticeId('lost', view.commandId ?? `epoch-${view.epoch}`)];
  if (!command || statusOf(record) !== 'waiting_input') return held;
  // The host confirms each wait of a command at another time.
  return [...held, noticeId('input', `${idOnHost(command)}@${view?.waiting?.since ?? ''}`)];
}

export function sessionState(record: SessionRecord, phase: 'open' | 'draining' | 'closed'): SessionState {
  const { ref, command, view, readers, refused } = record;
  const { agent, host, session } = ref;
  const waiting = record.approvals.waiting;
  return {
    ...{ agent, host, session },
    status: phase === 'open' ? statusOf(record) : phase,
    epoch: view?.epoch ?? 1,
    cwd: record.cwd,
    command: command && {
      id: command.id,
      runtime: command.runtime,
      startedAt: new Date(command.startedAt).toISOString(),
      firstLine: firstLineOf(command),
    },
    view,
    readers,
    refused,
    approvals: waiting,
    toolCalls: {
      made: record.grants.at(-1)?.used ?? 0,
      open: Object.values(record.calls ?? {}).flatMap(({ request: { id, tool }, state }) =>
        isOpen(state) ? [{ id, tool }] : [],
      ),
    },
  };
}

/** What is in the way of the next command, and its output as last known: a fresh look would cost history. */
export function factsOfBusy({ ref, view }: SessionRecord, command: RunningCommand): With<'session' | 'from'> {
  const known = view?.commandId === idOnHost(command) ? view : undefined;
  const recent = known && recentOutput(known.output);
  return { session: ref.session, from: known?.from ?? 0, ...(recent && { recent }) };
}

/** What the host is asked to run. */
export function inputOf(
  { ref, cwd }: SessionRecord,
  command: RunningCommand,
  workflowId: string,
): RunCommandInput {
  const { id: commandId, runtime, code, yield: settings, reset, checkImports, resets } = command;
  return {
    ref,
    workflowId,
    cwd,
    commandId,
    runtime,
    code,
    yield: settings,
    ...(reset && { reset }),
    ...(checkImports && { checkImports }),
    resets,
  };
}
