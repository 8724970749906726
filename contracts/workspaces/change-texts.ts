// Words for changes of files, the same wherever they are shown. Pure.
import type { ChangeCounts, CheckpointOutcome, MovedFiles } from './checkpoints';
import { counted } from '../text/counted';

/** For example `2 added, 1 deleted`. */
export function countsText(counts: ChangeCounts): string {
  const parts = (['added', 'modified', 'deleted'] as const).flatMap((kind) =>
    counts[kind] > 0 ? [`${counts[kind]} ${kind}`] : [],
  );
  return parts.join(', ') || 'nothing changed';
}

/** A text for a rewind, such as `1 file is not as it was`. */
export const notRestoredText = (count: number): string =>
  `${counted(count, 'file')} ${count === 1 ? 'is not as it was' : 'are not as they were'}`;

/** Of what was in the way: for example `1 file or folder was in the way: x is x.kept-1 now`. */
export function movedAsideText({ count, first }: MovedFiles): string {
  const what = `${counted(count, 'file or folder', 'files or folders')} ${count === 1 ? 'was' : 'were'} in the way`;
  if (first.length === 0) return `${what} and moved aside`;
  const named = first.map(({ path, to }) => `${path} is ${to} now`);
  return `${what}: ${firstOf(named, count)}`;
}

/** The first few of so many. */
export const firstOf = (named: readonly string[], count: number): string =>
  `${named.join(', ')}${count > named.length ? ` and ${count - named.length} more` : ''}`;

/** For example `session 0` or `sessions 0, 2`. */
export const sessionsText = (sessions: readonly number[]): string =>
  `session${sessions.length === 1 ? '' : 's'} ${sessions.join(', ')}`;

/** How many paths. */
export const changedIn = ({ added, modified, deleted }: ChangeCounts): number => added + modified + deleted;

/** What a person reads of a checkpoint; null where that is nothing: the step changed no files. */
export function checkpointText({
  before,
  step,
  outcome,
}: {
  before?: true;
  step: number;
  outcome: CheckpointOutcome;
}): string | null {
  const isKept = outcome.state === 'kept';
  if (isKept && (before || (outcome.changes && changedIn(outcome.changes) === 0))) return null;
  return `${outcomeText(outcome)} (step ${step})`;
}

/** What a step did to files, in a few words. */
export function outcomeText(outcome: CheckpointOutcome): string {
  if (outcome.state !== 'kept')
    return `${outcome.state === 'off' ? 'no checkpoints' : 'checkpoint missing'}: ${outcome.reason}`;
  const { changes, files, skipped } = outcome;
  const what = changes ? countsText(changes) : counted(files, 'file');
  return skipped ? `${what}; ${skipped.count} left out` : what;
}
