// The entries of an agent's own history: its turns, and the waits for approvals that its turns and sessions reported to it.
import { AGENT_MESSAGES } from '../../contracts/messages/to-agents';
import { WORKFLOWS } from '../../contracts/messages';
import type { TurnInput, TurnResult } from '../../contracts/agents/agent';
import type { QuestionsSignal } from '../../contracts/agents/questions';
import type { TimeLineEntry } from '../../contracts/gateway/time-line';
import type { Approval } from '../../contracts/tools/approvals';
import { label } from '../../contracts/text/labels';
import { entry } from './entries';
import { firstOf } from './read-payloads';
import { timeOf, type HistoryEvent, type Run } from './read-runs';
import type { TurnPlace } from './entries-of-turn';

export interface FoundTurn extends TurnPlace {
  workflowId: string;
  /** Null before it runs. */
  runId: string | null;
  entry: TimeLineEntry;
}

/** @param newest id of the agent's newest run: only its messages have a place in the conversation */
export async function turnsOf(runs: readonly Run[], newest: string): Promise<FoundTurn[]> {
  const turns = new Map<string, FoundTurn>();
  for (const run of runs)
    for (const event of run.events) {
      const initiated = event.startChildWorkflowExecutionInitiatedEventAttributes;
      if (initiated?.workflowType?.name === WORKFLOWS.turn && initiated.workflowId) {
        const { client } = run;
        const { workflowId } = initiated;
        const input = await firstOf<TurnInput>({ client, workflowId }, initiated.input?.payloads);
        turns.set(workflowId, foundTurn(event, { workflowId, newest, input }));
      }
      const started = event.childWorkflowExecutionStartedEventAttributes;
      const begun = turns.get(started?.workflowExecution?.workflowId ?? '');
      if (begun) begun.runId = started?.workflowExecution?.runId ?? null;
      await close(run, event, turns);
    }
  return [...turns.values()];
}

function foundTurn(
  event: HistoryEvent,
  {
    workflowId,
    newest,
    input,
  }: { workflowId: string; newest: string; input?: Partial<TurnInput> | undefined },
): FoundTurn {
  const turn = Number(/\/turn\/(\d+)$/.exec(workflowId)?.[1] ?? 0);
  const { earlier, message } = input ?? {};
  const firstMessage = earlier?.runId === newest ? earlier.count : null;
  const text = `Turn ${turn}: ${label(message ?? '')}`.trim();
  const make = entry({ workflowId, turn, message: firstMessage });
  const made = make('turn', { at: timeOf(event.eventTime), until: null, text });
  return { workflowId, runId: null, turn, firstMessage, entry: made };
}

async function close(run: Run, event: HistoryEvent, turns: Map<string, FoundTurn>): Promise<void> {
  const completed = event.childWorkflowExecutionCompletedEventAttributes;
  const ended =
    completed ??
    event.childWorkflowExecutionFailedEventAttributes ??
    event.childWorkflowExecutionCanceledEventAttributes ??
    event.childWorkflowExecutionTerminatedEventAttributes ??
    event.childWorkflowExecutionTimedOutEventAttributes;
  const turn = turns.get(ended?.workflowExecution?.workflowId ?? '');
  if (!turn) return;
  turn.entry.durationMs = Math.max(0, timeOf(event.eventTime) - Date.parse(turn.entry.at));
  const result = await firstOf<TurnResult>(
    { ...run, workflowId: turn.workflowId },
    completed?.result?.payloads,
  );
  turn.entry.outcome = completed ? (result?.reason ?? null) : 'failed';
}

/** A question is open from when it was asked until its asker reports it no longer. */
export async function approvalWaits(runs: readonly Run[]): Promise<TimeLineEntry[]> {
  const open = new Map<string, { asked: Approval; workflowId: string }>();
  const entries: TimeLineEntry[] = [];
  const addWait = (
    { asked, workflowId }: { asked: Approval; workflowId: string },
    until: number | null,
  ): void => {
    const at = Date.parse(asked.askedAt);
    const turn = Number(/\/turn\/(\d+)$/.exec(workflowId)?.[1]) || null;
    const make = entry({ workflowId, turn, message: null });
    entries.push(make('wait', { at, until, text: `Wait for approval: ${label(asked.what)}` }));
  };
  for (const run of runs)
    for (const event of run.events) {
      const signal = event.workflowExecutionSignaledEventAttributes;
      if (signal?.signalName !== AGENT_MESSAGES.questions.name) continue;
      const { workflowId, waiting } = (await firstOf<QuestionsSignal>(run, signal.input?.payloads)) ?? {};
      if (workflowId === undefined || !waiting) continue;
      for (const [key, one] of open)
        if (one.workflowId === workflowId && !waiting.some(({ id }) => id === one.asked.id)) {
          addWait(one, timeOf(event.eventTime));
          open.delete(key);
        }
      for (const asked of waiting) open.set(`${workflowId} ${asked.id}`, { asked, workflowId });
    }
  for (const one of open.values()) addWait(one, null);
  return entries;
}
