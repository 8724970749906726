// The status below a chat's conversation: what it is doing, since when, and what it waits for.
import type { AgentState, Message } from '../../contracts/agents/agent';
import { age } from '../print/age';
import { inertLine } from '../../contracts/text/inert';
import { styled } from '../terminal/terminal-style';
import { sameSession, type GivenOptions } from '../print/next-step';
import { usageText } from '../print/usage-text';
import type { Work } from '../print/work';
import { commandLines, cut } from './plain-lines';
import { counted } from '../../contracts/text/counted';

/** A session in which something runs. */
export interface RunningSession {
  host: string;
  session: number;
  waits: Work['waits'];
}

export interface ChatStatus {
  id: string;
  /** Null before it has answered. */
  state: AgentState | null;
  /** The current turn. */
  turn: Work | null;
  running: RunningSession[];
  /** Calls that give a terminal to a person and have no result yet, with the session. */
  forPeople: Map<string, number>;
  /** Messages typed here that have not begun yet. */
  sent: string[];
  isInterrupting: boolean;
}

export const newStatus = (id: string): ChatStatus => ({
  id,
  state: null,
  turn: null,
  running: [],
  forPeople: new Map(),
  sent: [],
  isInterrupting: false,
});

export function sawMessage({ forPeople, sent }: ChatStatus, message: Message): void {
  if (message.role === 'user' && sent.includes(message.text)) sent.splice(sent.indexOf(message.text), 1);
  if (message.role === 'tool') forPeople.delete(message.callId);
  if (message.role !== 'assistant' || message.parsed.kind !== 'calls') return;
  for (const call of message.parsed.calls) {
    const { session, forPerson } = call.facts ?? {};
    if (forPerson && session !== undefined) forPeople.set(call.callId, session);
  }
}

/** Sessions that a person should join: that of an interactive script, or one that waits for input. */
export function waitingSessions({
  state,
  running,
  forPeople,
}: ChatStatus): (RunningSession & { isScript: boolean })[] {
  const named = [...forPeople.values()];
  // The calls name sessions of the agent's own host.
  const isForPeople = ({ host, session }: RunningSession): boolean =>
    host === state?.host && named.includes(session);
  return running.flatMap((one) => {
    const isScript = isForPeople(one);
    return isScript || one.waits ? [{ ...one, isScript }] : [];
  });
}

/** @param given the options that lead to its server */
export function statusLines(
  status: ChatStatus,
  isWriting: boolean,
  columns: number,
  given: GivenOptions,
): string[] {
  const { id, state } = status;
  if (!state) return [styled('dim', cut(`${id}  …`, columns))];
  const parts = [
    `${id}  ${state.status === 'working' ? doing(status, state, isWriting) : state.status}`,
    state.queued > 0 && counted(state.queued, 'more message waits', 'more messages wait'),
    usageText(state.usage),
  ];
  return [
    ...waitingSessions(status)
      .flatMap(({ host, session, ...one }) => {
        const isElsewhere = host !== state.host;
        const [on, to] = isElsewhere ? [` on ${host}`, ` ${host}`] : ['', ''];
        const how = `/attach ${session}${to}, or from elsewhere`;
        const there = sameSession({ ...given, agent: id, host, session });
        return [
          cut(inertLine(`${waitText(`${session}${on}`, one)}: ${how}`), columns),
          // A part of a command is of no use.
          ...commandLines(inertLine(`holdfast attach${there}`), columns),
        ];
      })
      .map((line) => styled('yellow', line)),
    styled('dim', cut(inertLine(parts.filter((part) => part).join('; ')), columns)),
  ];
}

const waitText = (
  session: string,
  { waits, isScript }: Pick<RunningSession, 'waits'> & { isScript: boolean },
): string => {
  const since = waits ? ` since ${age(waits.since)}` : '';
  if (isScript) return `a script waits for a person${since}`;
  return `session ${session} waits for ${waits?.for ?? 'input'}${since}`;
};

function doing({ turn, isInterrupting }: ChatStatus, state: AgentState, isWriting: boolean): string {
  const at = `turn ${state.turns}${turn ? ` for ${age(turn.since)}` : ''}`;
  if (isInterrupting) return `${at}, interrupting: its tools finish first (/recover ends them too)`;
  if (isWriting) return `${at}, the model writes`;
  if (!turn?.waits) return `${at}, running`;
  const again = turn.waits.trouble ? `; ${turn.waits.trouble}` : '';
  return `${at}, waits for ${turn.waits.for} since ${age(turn.waits.since)}${again}`;
}
