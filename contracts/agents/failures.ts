// Turns that ended without what was asked for, and how lists know of them without asking anybody. Pure.
import type { AgentResult, EndReason } from './agent';
import { noticeId, readNotice, type NoticeId } from './notices';

/** What was asked for, or what a person wanted instead. */
const AS_WANTED: readonly EndReason[] = ['answered', 'interrupted', 'recovered', 'stopped'];

export const hasFailed = (result: AgentResult | null): result is AgentResult =>
  result !== null && !AS_WANTED.includes(result.reason);

/** A failed turn, as a search attribute of its agent has it. */
export interface ListedFailure {
  turn: number;
  /** The code of its error; where it has none, its reason: `step_limit`, say. */
  why: string;
  /** ISO 8601, in workflow time. */
  at: string;
}

export const failureNotice = (turn: number, { reason, error }: AgentResult): NoticeId =>
  noticeId('failed', `turn-${turn}/${error?.code ?? reason}`);

/** The latest of an agent's notices; undefined if none is a failure. */
export function latestFailure(notices: readonly unknown[]): ListedFailure | undefined {
  const failures = notices.flatMap((text): ListedFailure[] => {
    const notice = readNotice(text);
    const [, turn, why] = (notice?.kind === 'failed' && /^turn-(\d+)\/(\w+)$/.exec(notice.id)) || [];
    return notice && turn && why ? [{ turn: Number(turn), why, at: notice.at }] : [];
  });
  return failures.at(-1);
}
