// The entries of one turn: its model calls and its tools, and what became of their workers.
import type { ToolResult } from '../../contracts/agents/agent';
import type { ModelCall } from '../../contracts/models/model-call';
import type { TimeLineEntry } from '../../contracts/gateway/time-line';
import { label } from '../../contracts/text/labels';
import type { ToolInvocation } from '../../contracts/tools/tools';
import type { CheckpointInput } from '../../contracts/workspaces/requests-to-hosts';
import { activitySpans, type ActivitySpan } from './activity-spans';
import { entry, fateEntries, lasting, silentTasks, type Base } from './entries';
import type { Run } from './read-runs';
import { spawnsOfTurn, type Spawned } from './spawns-of-turn';

export interface TurnPlace {
  turn: number;
  /** Index of its first message in the conversation; null if the agent's run no longer has it. */
  firstMessage: number | null;
}

/** What a turn's history says. */
export interface TurnFacts {
  entries: TimeLineEntry[];
  /** Of each tool call by its key, which is the id of the command that it runs. */
  calls: Map<string, TimeLineEntry>;
  /** Sessions that its calls have used. */
  sessions: { host: string; session: number }[];
}

/** @param runs oldest first */
export async function entriesOfTurn(
  runs: readonly Run[],
  { turn, firstMessage }: TurnPlace,
): Promise<TurnFacts> {
  const facts: TurnFacts = { entries: [], calls: new Map(), sessions: [] };
  let message = firstMessage;
  for (const run of runs) {
    const base = { workflowId: run.workflowId, turn };
    const spawns = await spawnsOfTurn(run);
    const spans = await activitySpans(run);
    const checkpoints = await checkpointsBeforeReplies(spans);
    for (const span of spans) {
      addSpawns(facts, takeBefore(spawns, span.scheduledAt), { ...base, message });
      if (span.type === 'callModel' || span.type === 'compact') {
        const { model, turn: extent } = (await span.input<ModelCall>()) ?? {};
        message =
          firstMessage === null || extent === undefined
            ? null
            : firstMessage + extent.count + (checkpoints.get(span) ?? 0);
        const what = span.type === 'compact' ? 'Summary of the conversation by' : 'Model call to';
        const text = `${what} ${label(model ?? 'a model')}`;
        facts.entries.push(
          lasting(span, { ...base, kind: 'model', text, outcome: outcomeOf(span), message }),
        );
      } else if (span.type === 'callTool') {
        await addCall(facts, span, { ...base, message });
      }
      facts.entries.push(...fateEntries(span, run, { ...base, message }));
    }
    addSpawns(facts, spawns, { ...base, message });
    facts.entries.push(...silentTasks(run, entry({ ...base, message: null })));
  }
  return facts;
}

/**
 * How many checkpoints are recorded between the beginning of a model call and its reply: that of the step before, which is
 * taken meanwhile, and that before the first step which may change files.
 */
async function checkpointsBeforeReplies(spans: readonly ActivitySpan[]): Promise<Map<ActivitySpan, number>> {
  const counts = new Map<ActivitySpan, number>();
  let last: ActivitySpan | undefined;
  let pending = 0;
  for (const span of spans) {
    if (span.type === 'callModel') {
      counts.set(span, pending);
      pending = 0;
      last = span;
    } else if (span.type === 'checkpointWorkspace') {
      const { before } = (await span.input<CheckpointInput>()) ?? {};
      if (before && last) counts.set(last, (counts.get(last) ?? 0) + 1);
      else pending += 1;
    }
  }
  return counts;
}

/** Removes those that began before this time from the list, which is in order. */
const takeBefore = (spawns: Spawned[], at: number): Spawned[] =>
  spawns.splice(0, spawns.filter((spawned) => spawned.at < at).length);

function addSpawns(facts: TurnFacts, spawns: readonly Spawned[], base: Base): void {
  const make = entry(base);
  for (const { key, at, until, isRefused } of spawns) {
    const made = make('tool', { at, until, text: 'Start of a sub-agent' });
    const tool = { ...made, outcome: isRefused ? 'error' : null };
    facts.entries.push(tool);
    facts.calls.set(key, tool);
  }
}

async function addCall(facts: TurnFacts, span: ActivitySpan, base: Base): Promise<void> {
  const { key, call, settings } = (await span.input<ToolInvocation>()) ?? {};
  const { session, isError } = (await span.result<ToolResult>()) ?? {};
  const text = `Tool ${label(call?.tool ?? 'call')}`;
  const outcome = isError ? 'error' : outcomeOf(span);
  const made = lasting(span, { ...base, kind: 'tool', text, outcome });
  facts.entries.push(made);
  if (key !== undefined) facts.calls.set(key, made);
  if (session) facts.sessions.push({ host: settings?.host ?? 'local', session: session.session });
}

const outcomeOf = ({ failure, wasCancelled }: ActivitySpan): string | null =>
  wasCancelled ? 'cancelled' : failure ? 'failed' : null;
