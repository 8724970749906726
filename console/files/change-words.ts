// What happened to files, in words. Pure.
import type { Message } from '../../contracts/agents/agent';
import {
  changedIn,
  countsText,
  firstOf,
  movedAsideText,
  notRestoredText,
  outcomeText,
  sessionsText,
} from '../../contracts/workspaces/change-texts';
import type { RewindResult, RewoundPart } from '../../contracts/workspaces/rewinds';
import type { CheckpointOutcome, FileChange, RewoundFiles } from '../../contracts/workspaces/checkpoints';
import { howMany } from '../text/how-many';

/** `+3 -1`; '' for what has no lines. */
export const linesText = ({ insertions, deletions }: FileChange): string =>
  insertions === undefined ? '' : `+${insertions} -${deletions ?? 0}`;

interface Words {
  text: string;
  /** Whether there is a difference to look at. */
  hasDiff: boolean;
}

/** What a person reads of a checkpoint; null where that is nothing: the step changed no files. */
export function checkpointWords({
  before,
  step,
  outcome,
}: {
  before?: true;
  step: number;
  outcome: CheckpointOutcome;
}): Words | null {
  const text = outcomeText(outcome);
  if (outcome.state !== 'kept') return { text: `${text} (step ${step})`, hasDiff: false };
  if (before || (outcome.changes && changedIn(outcome.changes) === 0)) return null;
  return { text: `files after step ${step}: ${text}`, hasDiff: true };
}

/** The moment that a rewind brings back. */
export const momentText = (step: number): string => (step === 0 ? 'the beginning' : `step ${step}`);

export function rewindWords({ to, keeps, files }: Message & { role: 'rewind' }): Words {
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

/** For example `1 file is not as it was: big (it is missing)`. */
export function notRestoredWords({ count, first }: NonNullable<RewoundFiles['notRestored']>): string {
  const named = first.map(({ path, why }) => `${path} (${why})`);
  return `${notRestoredText(count)}${named.length > 0 ? `: ${firstOf(named, count)}` : ''}`;
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
