// What an agent did to files, and what a rewind brings back, as lines for people. All of it is foreign text, made inert.
import { counted } from '../../contracts/text/counted';
import { inertLine, inertText } from '../../contracts/text/inert';
import { label } from '../../contracts/text/labels';
import {
  changedIn,
  countsText,
  movedAsideText,
  notRestoredText,
  outcomeText,
} from '../../contracts/workspaces/change-texts';
import type { FileChange, FileChanges } from '../../contracts/workspaces/checkpoints';
import type { ConversationStep } from '../../contracts/workspaces/conversation-steps';
import type { RewindResult } from '../../contracts/workspaces/rewinds';
import { styled } from '../terminal/terminal-style';

const SHOWN_CHARACTERS = 44;
const MARKS: Record<FileChange['kind'], string> = { added: 'A', modified: 'M', deleted: 'D' };

/** One line for each step. */
export function stepLine({ step, turn, kind, title, outcome, isRewound }: ConversationStep): string {
  const of = turn === null ? '' : `turn ${turn}`;
  const what = label(String(title), SHOWN_CHARACTERS).padEnd(SHOWN_CHARACTERS);
  const files = outcome ? outcomeText(outcome) : '';
  const line = inertLine(`${String(step).padStart(5)}  ${of.padEnd(8)} ${what}  ${files}`).trimEnd();
  if (isRewound) return styled('dim', `${line}  (taken back)`);
  return kind === 'rewind' ? styled('yellow', line) : line;
}

/** One line for each changed file. */
export function changeLines({ paths, omitted }: FileChanges): string[] {
  const lines = paths.map(({ path, kind, insertions, deletions }) => {
    const changed = insertions === undefined ? '' : `  +${insertions} -${deletions ?? 0}`;
    return `${MARKS[kind]} ${path}${changed}`;
  });
  if (omitted > 0) lines.push(`… and ${omitted} more`);
  return lines.map(inertLine);
}

/** The lines of a diff as git writes it, coloured. */
export const diffLines = (text: string): string[] => text.split('\n').slice(0, -1).map(painted);

function painted(line: string): string {
  const shown = inertText(line);
  if (/^(diff |index |--- |\+\+\+ |old mode|new mode|new file|deleted file)/.test(line))
    return styled('bold', shown);
  if (line.startsWith('@@')) return styled('cyan', shown);
  if (line.startsWith('+')) return styled('green', shown);
  return line.startsWith('-') ? styled('red', shown) : shown;
}

export interface ReportedRewind {
  result: RewindResult;
  /** It was only a look. */
  isDry: boolean;
  /** The command that would undo the rewind to this step. */
  undo: (step: number) => string;
  /** The command that ends what runs in a session. */
  reset: (session: number) => string;
}

/** The files that are not as they were, and why. */
function notRestoredLines({ notRestored }: NonNullable<RewindResult['files']>): string[] {
  if (!notRestored) return [];
  const { count, first } = notRestored;
  const named = first.map(({ path, why }) => `${path} (${why})`);
  const omitted = count - first.length;
  const more = first.length > 0 && omitted > 0 ? [`and ${omitted} more`] : [];
  const list = named.length > 0 ? `: ${[...named, ...more].join(', ')}` : '';
  return [`${notRestoredText(count)}, and cannot be brought back${list}.`];
}

/** What a rewind did, one remark a line. */
export function rewindRemarks({ result, isDry, undo, reset }: ReportedRewind): string[] {
  const { step, to, files, messages, running } = result;
  const [first] = running;
  const rest = files?.notRestored ? 'The other files' : 'The files';
  const filesThen = (changes: FileChanges): string[] => [
    countsText(changes.counts),
    changedIn(changes.counts) === 0
      ? `${rest} are as they were after step ${to}.`
      : isDry
        ? 'Nothing was changed yet.'
        : `${rest} are as they were after step ${to} again.`,
  ];
  return [
    ...(files?.movedAside ? [`${movedAsideText(files.movedAside)}.`] : []),
    ...(files ? [...notRestoredLines(files), ...filesThen(files.changes)] : []),
    ...(messages === null
      ? []
      : [`The model ${isDry ? 'would forget' : 'forgets'} ${counted(messages, 'message')}.`]),
    ...(first === undefined
      ? []
      : [
          `Commands still run in session ${running.join(', ')}, and may change files again: end them with --stop, or with ` +
            `\`${reset(first)}\`.`,
        ]),
    ...(step === null ? [] : [`This is step ${step}. \`${undo(step - 1)}\` undoes it.`]),
  ].map(inertLine);
}

export const printLines = (lines: readonly string[]): void => {
  for (const line of lines) process.stdout.write(`${line}\n`);
};
