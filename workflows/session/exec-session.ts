// `execSession`: the durable side of one persistent shell, from its opening to its close. The shell itself
// lives in its holder on the host.
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  isCancellation,
  log,
  workflowInfo,
} from '@temporalio/workflow';
import { fromFailure } from '../../contracts/errors/failure';
import { hostNameOf, parseSessionWorkflowId, type SessionRef } from '../../contracts/ids';
import { label } from '../../contracts/text/labels';
import { sessionInputSchema } from '../../contracts/schemas/session';
import type { SessionInput } from '../../contracts/schemas/session';
import { attributesOfSession } from '../../contracts/agents/work-state';
import { hostFailure, repeatable } from '../host/host-activities';
import { checked, refuse } from '../messages/refusal';
import { SessionActor } from './session-actor';
import { listen, type SignalsAtWork } from './session-messages';
import {
  newSessionRecord,
  readSession,
  withFittingGrants,
  workStateOf,
  type CarriedSession,
  type SessionRecord,
} from './session-record';
import { PublishedState } from '../messages/published-state';
import { continueInNextRun } from '../next-run';

/** Replaying an event costs about half a millisecond: this keeps a replay below one or two seconds. */
const CONTINUE_AT_EVENTS = 2_000;
/** Above this, long-waiting callers no longer hold back continue-as-new. */
const AT_ANY_COST: HistoryLimit = { events: 8_000, bytes: 12_000_000 };
/** Above this, running tool calls no longer do either: the server ends a history at 51,200 events or 50 MB. */
const AT_LAST: HistoryLimit = { events: 25_000, bytes: 24_000_000 };
const LONG_CALL_MS = 2_000;
const DRAIN_MS = 5_000;
/** Between two looks at a command that has outlived the idle limit: each is a timer in the history. */
const LEAST_LOOK_MS = 30_000;
const HANDLERS_MS = 15_000;

type HistoryLimit = Record<'events' | 'bytes', number>;

function isBeyond({ events, bytes }: HistoryLimit): boolean {
  const { historyLength, historySize } = workflowInfo();
  return historyLength > events || historySize > bytes;
}

/** Starts from `input`, or continues from `carried` after continue-as-new. */
export async function execSession(input?: SessionInput, carried?: CarriedSession): Promise<void> {
  const record = carried ? readSession(carried) : openSession(input);
  // A carried session has its ids: the server copies attributes to the next run.
  const published = PublishedState.open(carried ? [] : attributesOfSession(record.ref), workStateOf(record));
  const session = new SessionActor(record, published);
  // Before the handlers: pending messages are handled the moment these are set.
  session.reattach();
  const signals = listen(session);
  try {
    await live(session, signals);
  } catch (err) {
    if (isCancellation(err)) {
      await CancellationScope.nonCancellable(async () => {
        await close(session, 'the session was cancelled');
        await condition(allHandlersFinished, HANDLERS_MS);
      });
    }
    throw err;
  }
}

function openSession(input: SessionInput | undefined): SessionRecord {
  const settings = checked(sessionInputSchema, 'The input of execSession', input);
  const ref: SessionRef = parseSessionWorkflowId(workflowInfo().workflowId) ?? {
    agent: settings.agent ?? refuse('invalid_input', MISSING_AGENT),
    host: hostNameOf(settings),
    session: settings.session ?? 0,
  };
  return newSessionRecord(ref, settings);
}

const MISSING_AGENT = {
  what: 'The agent of the session',
  got: 'nothing',
  allowed: 'a workflow id exec/<agent>/<host>/<n>, or an input with agent, host and session',
};

/** Runs until it is closed, idle for too long, or its history is long enough. */
async function live(session: SessionActor, signals: SignalsAtWork): Promise<void> {
  const { record } = session;
  while (session.closing === null) {
    const idleMs = session.usedAt + record.idleMs - Date.now();
    if (idleMs <= 0 && !record.command) {
      session.closing = 'it was idle for too long';
    } else {
      // A command that outlives the idle limit keeps its session: check again after a tenth of the limit.
      const lookAgainMs = Math.max(idleMs, record.idleMs / 10, idleMs > 0 ? 1 : LEAST_LOOK_MS);
      await condition(() => session.closing !== null || isLong(session), lookAgainMs);
    }
    if (isLong(session) && session.closing === null) await moveOn(session, signals);
  }
  await close(session, session.closing);
  if (allHandlersFinished()) return;
  // No caller's wait keeps a closed session's workflow open.
  await condition(allHandlersFinished, HANDLERS_MS);
}

/** Continues as new, unless a tool call or a signal would be lost: then it stays a while longer. */
async function moveOn(session: SessionActor, signals: SignalsAtWork): Promise<void> {
  const { tools, record } = session;
  session.phase = 'draining';
  session.isHandingOver = tools.wasUsed;
  // Not forever: a caller that is cut off resends its id, and finds its command in the next run.
  const isDrained = (): boolean => allHandlersFinished() && tools.oldestRunning === null;
  await condition(() => isDrained() || session.closing !== null, DRAIN_MS);
  const isTooLong = (): boolean => isBeyond(AT_LAST);
  const mayLeave = session.closing === null && (tools.oldestRunning === null || isTooLong());
  // A reset or poll that came by signal and is not done yet would be lost.
  const isAtWork = mayLeave && signals.atWork > 0 && !isTooLong();
  if (mayLeave && !isAtWork) {
    const { calls, ...rest } = record;
    const carried = { ...rest, ...(calls && { calls: tools.carried() }) };
    await continueInNextRun<typeof execSession>(undefined, withFittingGrants(carried));
  }
  session.isHandingOver = false;
  session.phase = 'open';
  // It takes messages meanwhile.
  if (isAtWork) await condition(() => signals.atWork === 0 || session.closing !== null || isTooLong());
}

async function close(session: SessionActor, reason: string): Promise<void> {
  session.closing ??= reason;
  const { record } = session;
  session.tools.cancelAll(reason);
  session.approvals.denyAll(reason);
  const { ref } = record;
  try {
    await repeatable(ref.host).closeSession.executeWithOptions({ summary: label(reason) }, [{ ref, reason }]);
    // Interleaves with the end of the session's command, which the host reports like any other end.
    await condition(() => record.command === null, '10s');
  } catch (err) {
    // A host that is gone has either lost its shells, or `holdfast down --sessions` there ends them. Shells of a data
    // folder that no longer serves the host are ended as orphans when it is back.
    const code = fromFailure(hostFailure(err, ref.host))?.code;
    if (code !== 'host_offline' && code !== 'session_elsewhere') throw err;
  }
  session.phase = 'closed';
  log.info('session closed', { reason });
}

function isLong({ waiters, tools }: SessionActor): boolean {
  const { historyLength, continueAsNewSuggested } = workflowInfo();
  if (historyLength <= CONTINUE_AT_EVENTS && !continueAsNewSuggested) return false;
  if (isBeyond(AT_LAST)) return true;
  // A long call may be one that must not run twice: it is cut off only if necessary.
  if (tools.oldestRunning !== null && Date.now() - tools.oldestRunning > LONG_CALL_MS) return false;
  return waiters === 0 || tools.wasUsed || isBeyond(AT_ANY_COST);
}
