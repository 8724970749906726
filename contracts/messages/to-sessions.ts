// The messages of `execSession`. Outside callers depend on their names: a change here is a breaking change.
import { callContent, execContent, inputContent, resetContent } from '../message-content';
import type { Yielded } from '../sessions/host';
import type { ExecRequest, InputRequest, OutputRequest, ResetRequest, WaitRequest } from '../schemas/session';
import type { CommandView, SessionState, WaitResult } from '../sessions/session';
import type {
  CancelToolsRequest,
  ToolCallAnswer,
  ToolCallRequest,
  ToolResults,
  ToolResultsRequest,
} from '../tools/tools';
import { query, signal, signalOrUpdate, update } from './message';

export const SESSION_MESSAGES = {
  exec: update<ExecRequest, CommandView>({
    name: 'exec',
    from: 'anyone',
    does: 'Run code',
    examples: [{ code: 'ls -la' }, { runtime: 'python', code: 'print(1)' }],
    request: { schema: 'execSchema', what: 'The command' },
    answer: 'commandView',
    content: execContent,
  }),
  input: signalOrUpdate<InputRequest, CommandView>({
    name: 'input',
    from: 'anyone',
    does: 'Type into the waiting process',
    examples: [{ keyboard: 'Y' }, { keys: ['ctrl-c'] }],
    request: { schema: 'inputSchema', what: 'The input', isSecret: true },
    answer: 'commandView',
    content: inputContent,
  }),
  output: update<OutputRequest, CommandView>({
    name: 'output',
    from: 'anyone',
    does: 'Read the output',
    examples: [{}, { from: 0, maxBytes: 65_536 }, { wait: 'exit', waitMs: 10_000 }],
    request: { schema: 'outputSchema', what: 'The output request' },
    answer: 'commandView',
  }),
  /** Reads the output again, so that `lastView` is fresh. */
  poll: signal({
    name: 'poll',
    from: 'anyone',
    does: 'Refresh the output; then read the query "output" or the current details',
  }),
  lastView: query<undefined, CommandView | null>({
    name: 'output',
    from: 'anyone',
    does: 'The last known view of the command; the signal "poll" makes it fresh',
    answer: 'lastView',
  }),
  wait: update<WaitRequest, WaitResult>({
    name: 'wait',
    from: 'anyone',
    does: 'Wait for several sessions of the same agent and host',
    examples: [{ sessions: [0, 1], for: 'exit', mode: 'any', waitMs: 60_000 }],
    request: { schema: 'waitRequestSchema', what: 'The wait request' },
    answer: 'waitResult',
  }),
  reset: signalOrUpdate<ResetRequest, CommandView>({
    name: 'reset',
    from: 'anyone',
    does: 'End everything that runs here',
    examples: [{ reason: 'it hangs' }],
    request: { schema: 'resetSchema', what: 'The reset request' },
    answer: 'commandView',
    content: resetContent,
  }),
  open: update<undefined, CommandView>({
    name: 'open',
    from: 'anyone',
    does: 'Open the terminal ahead of the first command',
    answer: 'commandView',
  }),
  close: signal<ResetRequest>({
    name: 'close',
    from: 'anyone',
    does: 'End everything that runs here and the session itself',
    examples: [{ reason: 'done' }],
    request: { schema: 'resetSchema', what: 'The close request' },
  }),
  state: query<undefined, SessionState>({
    name: 'state',
    from: 'anyone',
    does: 'Status, command, last view and refused signals',
    answer: 'sessionState',
  }),
  toolCall: update<ToolCallRequest, ToolCallAnswer>({
    name: 'toolCall',
    from: 'the host worker',
    does: 'a script calls a tool',
    request: { schema: 'toolCallSchema', what: 'The tool call', isSecret: true },
    content: callContent,
  }),
  toolResults: update<ToolResultsRequest, ToolResults>({
    name: 'toolResults',
    from: 'the host worker',
    does: 'asks for the outcomes of long-running calls',
    request: { schema: 'toolResultsSchema', what: 'The request for results' },
  }),
  cancelTools: signal<CancelToolsRequest>({
    name: 'cancelTools',
    from: 'the host worker',
    does: 'nobody is waiting for these calls any longer',
    request: { schema: 'cancelToolsSchema', what: 'The cancellation' },
  }),
  yielded: signal<Yielded>({
    name: 'yielded',
    from: 'the host worker',
    does: 'a command outlives its yield',
  }),
};
