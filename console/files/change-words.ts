// What happened to files, in words. Pure.
import type { Message } from '../../contracts/agents/agent';
import { changedIn, countsText, movedAsideText } from '../../contracts/workspaces/change-texts';
import type { RewindResult, RewoundPart } from '../../contracts/workspaces/rewinds';
import type { CheckpointOutcome, FileChange, RewoundFiles } from '../../contracts/workspaces/checkpoints';
import { howMany } from '../text/how-many';

/** `+3 -1`; '' for what has no lines. */
export const linesText = ({ insertions, deletions }: FileChange): string =>
  insertions === undefined ? '' : `+${insertions} -${deletions ?? 0}`;

interface Told {
  text: string;
  /** Whether there is a difference to look at. */
  hasDiff: boolean;
}

/** What a checkpoint tells people; null where that is nothing: the step changed no files. */
export function checkpointWords({
  before,
  step,
  outcome,
}: {
  before?: true;
  step: number;
  outcome: CheckpointOutcome;
}): Told | null {
  if (outcome.state !== 'kept') {
    const what = outcome.state === 'off' ? 'no checkpoints' : 'checkpoint missing';
    return { text: `${what}: ${outcome.reason} (step ${step})`, hasDiff: false };
  }
  const { changes, files, skipped } = outcome;
  if (before || (changes && changedIn(changes) === 0)) return null;
  const what = changes ? countsText(changes) : howMany(files, 'file');
  const left = skipped ? `; ${skipped.count} left out` : '';
  return { text: `files after step ${step}: ${what}${left}`, hasDiff: true };
}

/** The moment that a rewind brings back. */
export const momentText = (step: number): string => (step === 0 ? 'the beginning' : `step ${step}`);

export function rewindWords({ to, keeps, files }: Message & { role: 'rewind' }): Told {
  const back = `back to ${momentText(to)}`;
  if (!files) return { text: `${back}: the conversation; files stayed as they were`, hasDiff: false };
  const what = keeps === undefined ? 'files' : 'files and conversation';
  return { text: `${back}: ${what}: ${countsText(files.counts)}`, hasDiff: changedIn(files.counts) > 0 };
}

export const REWOUND_PARTS_IN_WORDS: readonly [RewoundPart, string][] = [
  ['both', 'files and conversation'],
  ['files', 'files'],
  ['conversation', 'conversation'],
];

/** For example `session 0` or `sessions 0, 2`. */
export const sessionsText = (sessions: readonly number[]): string =>
  `session${sessions.length === 1 ? '' : 's'} ${sessions.join(', ')}`;

/** For example `1 file is not as it was: big (it is missing)`. */
export function notRestoredWords({ count, first }: NonNullable<RewoundFiles['notRestored']>): string {
  const named = first.map(({ path, why }) => `${path} (${why})`).join(', ');
  const more = first.length > 0 && count > first.length ? ` and ${count - first.length} more` : '';
  return `${count} ${count === 1 ? 'file is not as it was' : 'files are not as they were'}${named && `: ${named}`}${more}`;
}

/** What a rewind has done. */
export function resultWords({ step, to, files, messages, running }: RewindResult): string {
  const parts = [
    ...(files ? [countsText(files.changes.counts)] : []),
    ...(messages === null ? [] : [`the model no longer sees ${howMany(messages, 'message')}`]),
  ];
  const more = [
    ...(running.length > 0
      ? [`Commands still run in ${sessionsText(running)}, and may change files again.`]
      : []),
    ...(files?.notRestored ? [`${notRestoredWords(files.notRestored)}.`] : []),
    ...(files?.movedAside ? [`${movedAsideText(files.movedAside)}.`] : []),
    ...(step === null ? ['To take it back, rewind to another step.'] : []),
  ];
  return [`Back to ${momentText(to)}: ${parts.join('; ')}.`, ...more].join(' ');
}
