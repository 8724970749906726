// Connects the messages of `execSession` to its methods. Updates are refused before they cost history; a signal's
// sender gets no answer, so its refusal is recorded. Each description holds an example, because Temporal's web UI
// shows it beside the message.
import { isCancellation, setHandler } from '@temporalio/workflow';
import type { Yielded } from '../../contracts/sessions/host';
import { outputSchema, resetSchema, waitRequestSchema } from '../../contracts/schemas/session';
import type {
  ExecRequest,
  InputRequest,
  OutputRequest,
  ResetRequest,
  WaitRequest,
} from '../../contracts/sessions/session';
import { toolResultsSchema } from '../../contracts/schemas/tools';
import type { CancelToolsRequest, ToolCallRequest, ToolResultsRequest } from '../../contracts/tools/tools';
import { reasonOf } from '../../contracts/errors/holdfast-error';
import { listenToApprovals } from '../messages/approvals';
import { messageGuard } from '../messages/message-guard';
import { checked, refuse } from '../messages/refusal';
import type { SessionActor } from './session-actor';
import * as messages from './session-definitions';
import { lastView, recordRefusal, sessionState } from './session-record';

export function listen(session: SessionActor): void {
  messageGuard.refused = (err) => recordRefusal(session.record, reasonOf(err));
  listenToUpdates(session);
  listenToSignals(session);
  listenToApprovals(session.approvals, messageGuard.refused);
  setHandler(messages.outputQuery, () => lastView(session.record), {
    description: 'The last known view of the command; the signal "poll" makes it fresh; no data',
  });
  setHandler(messages.stateQuery, () => sessionState(session.record, session.phase), {
    description: 'Status, command, last view and refused signals; no data',
  });
}

function listenToUpdates(session: SessionActor): void {
  const isOpen = (): void => {
    if (session.phase === 'draining') refuse('draining');
    if (session.closing !== null) {
      refuse('session_closed', { session: session.record.ref.session, reason: session.closing });
    }
  };
  setHandler(messages.openUpdate, () => session.open(), {
    validator: isOpen,
    description: 'Open the terminal ahead of the first command; no data',
  });
  setHandler(messages.execUpdate, (request?: ExecRequest) => session.exec(request), {
    validator: (request?: ExecRequest) => (isOpen(), void session.checkExec(request)),
    description: 'Run code: {"code":"ls -la"} or {"runtime":"python","code":"print(1)"}',
  });
  setHandler(messages.inputUpdate, (request?: InputRequest) => session.input(request), {
    validator: (request?: InputRequest) => (isOpen(), void session.checkInput(request)),
    description: 'Type into the waiting process: {"keyboard":"Y"} or {"keys":["ctrl-c"]}',
  });
  setHandler(messages.outputUpdate, (request?: OutputRequest) => session.output(request), {
    validator: (request?: OutputRequest) => (
      isOpen(),
      void checked(outputSchema, 'The output request', request)
    ),
    description: 'Read the output: {} or {"from":0,"maxBytes":65536} or {"wait":"exit","waitMs":10000}',
  });
  setHandler(messages.waitUpdate, (request?: WaitRequest) => session.wait(request), {
    validator: (request?: WaitRequest) => (
      isOpen(),
      void checked(waitRequestSchema, 'The wait request', request)
    ),
    description: 'Wait for several sessions: {"sessions":[0,1],"for":"exit","mode":"any","waitMs":60000}',
  });
  setHandler(messages.toolCallUpdate, (request?: ToolCallRequest) => session.callTool(request), {
    validator: (request?: ToolCallRequest) => (isOpen(), void session.tools.checkCall(request)),
    description: 'Internal, from the host worker: a script calls a tool',
  });
  setHandler(messages.toolResultsUpdate, (request?: ToolResultsRequest) => session.tools.results(request), {
    validator: (request?: ToolResultsRequest) => (
      isOpen(),
      void checked(toolResultsSchema, 'The request for results', request)
    ),
    description: 'Internal, from the host worker: asks for the outcomes of long-running calls',
  });
  setHandler(messages.resetUpdate, (request?: ResetRequest) => session.reset(request), {
    validator: (request?: ResetRequest) => (isOpen(), void session.checkReset(request)),
    description: 'End everything that runs here: {"reason":"it hangs"}',
  });
}

function listenToSignals(session: SessionActor): void {
  const signalled = async (work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (err) {
      if (isCancellation(err)) throw err;
      recordRefusal(session.record, err instanceof Error ? err.message : String(err));
    }
  };
  const close = (request?: ResetRequest): void => {
    session.closing ??= checked(resetSchema, 'The close request', request).reason ?? 'it was closed';
  };
  setHandler(
    messages.inputSignal,
    (request?: InputRequest) => signalled(() => session.signalInput(request)),
    {
      description: 'Type into the waiting process: {"keyboard":"Y"} or {"keys":["ctrl-c"]}',
    },
  );
  setHandler(messages.pollSignal, () => signalled(() => session.output({})), {
    description: 'Refresh the output, no data; then read the query "output" or the current details',
  });
  setHandler(messages.resetSignal, (request?: ResetRequest) => signalled(() => session.reset(request)), {
    description: 'End everything that runs here: {"reason":"it hangs"}',
  });
  setHandler(messages.closeSignal, (request?: ResetRequest) => signalled(() => close(request)), {
    description: 'End everything that runs here and the session itself: {"reason":"done"}',
  });
  setHandler(
    messages.cancelToolsSignal,
    (request?: CancelToolsRequest) => signalled(() => session.tools.cancel(request)),
    { description: 'Internal, from the host worker: nobody is waiting for these calls any longer' },
  );
  setHandler(messages.yieldedSignal, (yielded?: Yielded) => signalled(() => session.onYielded(yielded)), {
    description: 'Internal, from the host worker: a command outlives its yield',
  });
}
