// Connects the messages of `execSession` to its methods.
import { SESSION_MESSAGES as MESSAGES } from '../../contracts/messages/to-sessions';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { listenToApprovals } from '../messages/approvals';
import { Listener } from '../messages/listener';
import { messageGuard } from '../messages/message-guard';
import { refuse } from '../messages/refusal';
import type { SessionActor } from './session-actor';
import { lastView, recordRefusal, sessionState } from './session-record';

/** The handlers of signals that are at work: these are not sent again, unlike updates. */
export interface SignalsAtWork {
  atWork: number;
}

export function listen(session: SessionActor): SignalsAtWork {
  const signals = { atWork: 0 };
  messageGuard().refused = (err) => recordRefusal(session.record, reasonOf(err));
  const listener = new Listener({
    admit: (parse) => {
      if (session.phase === 'draining') refuse('draining');
      if (session.closing !== null) {
        refuse('session_closed', { session: session.record.ref.session, reason: session.closing });
      }
      return parse();
    },
    signalled: async (work) => {
      signals.atWork += 1;
      try {
        await work();
      } catch (err) {
        // Also a cancellation: thrown, it would end the workflow at once, and its shell would stay open.
        recordRefusal(session.record, err instanceof Error ? err.message : String(err));
      } finally {
        signals.atWork -= 1;
      }
    },
  });
  listenToUpdates(session, listener);
  listenToSignals(session, listener);
  listenToApprovals(session.approvals, messageGuard().refused);
  listener.query(MESSAGES.lastView, () => lastView(session.record));
  listener.query(MESSAGES.state, () => sessionState(session.record, session.phase));
  return signals;
}

function listenToUpdates(session: SessionActor, listener: Listener): void {
  listener.update(MESSAGES.open, () => session.open());
  listener.update(
    MESSAGES.exec,
    (request) => session.exec(request),
    (request) => session.checkExec(request),
  );
  listener.update(
    MESSAGES.input,
    (request) => session.input(request),
    (request) => session.checkInput(request),
  );
  listener.update(MESSAGES.output, (request) => session.output(request));
  listener.update(MESSAGES.wait, (request) => session.wait(request));
  listener.update(
    MESSAGES.toolCall,
    (request) => session.callTool(request),
    (request) => session.tools.checkCall(request),
  );
  listener.update(MESSAGES.toolResults, (request) => session.tools.results(request));
  listener.update(
    MESSAGES.reset,
    (request) => session.reset(request),
    (request) => session.checkReset(request),
  );
}

function listenToSignals(session: SessionActor, listener: Listener): void {
  listener.uncheckedSignal(MESSAGES.input, (request) => session.signalInput(request));
  listener.signal(MESSAGES.poll, () => session.output({}));
  listener.signal(MESSAGES.reset, (request) => session.reset(request));
  listener.signal(MESSAGES.close, ({ reason }) => (session.closing ??= reason ?? 'it was closed'));
  listener.signal(MESSAGES.cancelTools, (request) => session.tools.cancel(request));
  listener.signal(MESSAGES.yielded, (yielded) => session.onYielded(yielded));
}
