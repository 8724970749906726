// The entries of one session: its commands, the waits of their programs for input, and what became of its workers.
import type { HeldCommand } from '../../contracts/tools/approvals';
import { SESSION_MESSAGES } from '../../contracts/messages/to-sessions';
import type { RunCommandInput, Yielded } from '../../contracts/sessions/host';
import type { CommandView } from '../../contracts/sessions/session';
import type { TimeLineEntry } from '../../contracts/gateway/time-line';
import { label } from '../../contracts/text/labels';
import { activitySpans, type ActivitySpan } from './activity-spans';
import { entry, fateEntries, lasting, silentTasks, TAKEN_OVER, type Base } from './entries';
import { firstOf } from './read-payloads';
import { timeOf, type Run } from './read-runs';

export interface CallOfCommand {
  turn: number | null;
  message: number | null;
}

export interface SessionPlace {
  host: string;
  session: number;
  /** The tool call that ran a command, by the command's id. */
  callOf: (commandId: string) => CallOfCommand;
}

interface Command {
  id: string;
  base: Base;
  input: Partial<RunCommandInput> | undefined;
  /** Each time that it was sent to the host: again after an approval, and after the death of a worker. */
  sent: ActivitySpan[];
}

/** @param runs oldest first */
export async function entriesOfSession(
  runs: readonly Run[],
  { host, session, callOf }: SessionPlace,
): Promise<TimeLineEntry[]> {
  const entries: TimeLineEntry[] = [];
  const commands = new Map<string, Command>();
  const looks: Look[] = [];
  for (const run of runs) {
    const own = { workflowId: run.workflowId, host, session };
    for (const span of await activitySpans(run)) {
      const input = await span.input<RunCommandInput>();
      const id = input?.commandId ?? span.id;
      const base: Base = { ...own, ...callOf(id) };
      if (span.type === 'runCommand') {
        const command = commands.get(id) ?? { id, base, input, sent: [] };
        commands.set(id, command);
        command.sent.push(span);
      } else if (TYPES.includes(span.type)) {
        // What was typed ends a wait; the answer may show that the program waits again.
        looks.push({ at: span.scheduledAt, since: null });
        looks.push(...lookOf(span.endedAt, await span.result<CommandView>()));
      }
      entries.push(...fateEntries(span, run, base));
    }
    looks.push(...(await yields(run)));
    entries.push(...silentTasks(run, entry({ ...own, turn: null, message: null })));
  }
  for (const command of commands.values()) {
    entries.push(...(await commandEntries(command)));
    entries.push(...waitsOf(command, looks));
  }
  return entries;
}

const TYPES = ['sendInput', 'sendInputs'];

async function commandEntries({ base, input, sent }: Command): Promise<TimeLineEntry[]> {
  const [first, last] = [sent[0], sent.at(-1)];
  if (!first || !last) return [];
  const view = await last.result<CommandView & HeldCommand>();
  const firstLine = input?.code?.trim().split('\n', 1)[0] ?? 'a command';
  const text = label(`${input?.runtime ?? 'terminal'}: ${firstLine}`);
  const whole = { ...last, scheduledAt: first.scheduledAt };
  const command = lasting(whole, { ...base, kind: 'command', text, outcome: outcomeOf(last, view) });
  const overtakes = sent.slice(1).flatMap((span, index) => {
    const before = sent[index];
    if (before?.fate == null || before.failure === undefined) return [];
    const at = before.endedAt ?? span.scheduledAt;
    return [entry(base)('taken_over', { at, until: span.startedAt ?? span.scheduledAt, text: TAKEN_OVER })];
  });
  return [command, ...overtakes];
}

function outcomeOf(
  { failure }: ActivitySpan,
  view: Partial<CommandView & HeldCommand> | undefined,
): string | null {
  if (failure) return 'failed';
  if (view?.held) return 'held for an approval';
  if (view?.state === 'lost') return 'lost: its shell is gone';
  if (view?.killedBy) return `ended by ${view.killedBy.by}`;
  if (view?.signal) return view.signal;
  return typeof view?.exitCode === 'number' ? `exit code ${view.exitCode}` : null;
}

/** What was known at some time: since when a program waits, or null if none does. */
interface Look {
  at: number;
  since: number | null;
}

function lookOf(at: number | null, view: Partial<CommandView> | undefined): Look[] {
  if (at === null || !view?.state) return [];
  if (view.state !== 'waiting_input') return [{ at, since: null }];
  const since = Date.parse(view.waiting?.since ?? '');
  // The host's clock may differ from the server's.
  return [{ at, since: Number.isNaN(since) ? at : Math.min(since, at) }];
}

async function yields(run: Run): Promise<Look[]> {
  const looks: Look[] = [];
  for (const event of run.events) {
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName !== SESSION_MESSAGES.yielded.name) continue;
    const yielded = await firstOf<Yielded>(run, signal.input?.payloads);
    looks.push(...lookOf(timeOf(event.eventTime), yielded?.view));
  }
  return looks;
}

/** Each from the first sight of it to the next input, or the command's end. */
function waitsOf({ base, sent }: Command, looks: readonly Look[]): TimeLineEntry[] {
  const at = sent[0]?.scheduledAt ?? 0;
  const until = sent.at(-1)?.endedAt ?? null;
  const within = looks
    .filter((look) => look.at >= at && look.at <= (until ?? Infinity))
    .sort((a, b) => a.at - b.at);
  return within.flatMap(({ since }, index) => {
    if (since === null) return [];
    const over = within[index + 1]?.at ?? until;
    return [entry(base)('wait', { at: Math.max(at, since), until: over, text: 'Wait for input' })];
  });
}
