// The messages of `execSession`, as Temporal definitions.
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import { SESSION_MESSAGES as NAMES } from '../../contracts/messages';
import type { Yielded } from '../../contracts/sessions/host';
import type {
  CommandView,
  ExecRequest,
  InputRequest,
  OutputRequest,
  ResetRequest,
  SessionState,
  WaitRequest,
  WaitResult,
} from '../../contracts/sessions/session';

import type {
  CancelToolsRequest,
  ToolCallAnswer,
  ToolCallRequest,
  ToolResults,
  ToolResultsRequest,
} from '../../contracts/tools/tools';

// The web UI and CLI may send no argument at all: every handler accepts undefined.
export const openUpdate = defineUpdate<CommandView>(NAMES.open);
export const execUpdate = defineUpdate<CommandView, [ExecRequest?]>(NAMES.exec);
export const inputUpdate = defineUpdate<CommandView, [InputRequest?]>(NAMES.input);
export const outputUpdate = defineUpdate<CommandView, [OutputRequest?]>(NAMES.output);
export const resetUpdate = defineUpdate<CommandView, [ResetRequest?]>(NAMES.reset);
export const waitUpdate = defineUpdate<WaitResult, [WaitRequest?]>(NAMES.wait);
export const toolCallUpdate = defineUpdate<ToolCallAnswer, [ToolCallRequest?]>(NAMES.toolCall);
export const toolResultsUpdate = defineUpdate<ToolResults, [ToolResultsRequest?]>(NAMES.toolResults);
export const cancelToolsSignal = defineSignal<[CancelToolsRequest?]>(NAMES.cancelTools);
export const inputSignal = defineSignal<[InputRequest?]>(NAMES.input);
export const pollSignal = defineSignal(NAMES.poll);
export const resetSignal = defineSignal<[ResetRequest?]>(NAMES.reset);
export const closeSignal = defineSignal<[ResetRequest?]>(NAMES.close);
export const yieldedSignal = defineSignal<[Yielded?]>(NAMES.yielded);
export const outputQuery = defineQuery<CommandView | null>(NAMES.output);
export const stateQuery = defineQuery<SessionState>(NAMES.state);
