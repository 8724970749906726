// What a model sees of a conversation: what no rewind has taken back, and of that the last summary, the messages that it
// does not cover, and the files that stay in view. Pure.
import type { Message, VisibleMessage } from './agent';
import { countsText, movedAsideText, notRestoredText } from '../workspaces/change-texts';
import { standingPlaces } from '../workspaces/conversation-steps';

/** A message and its place in the whole conversation, by which summaries and rewinds count. */
interface Placed {
  message: Message;
  place: number;
}

/** Checkpoints beyond this are forgotten when a conversation continues as new. */
const CARRIED_CHECKPOINTS = 300;

export const visibleMessages = (messages: readonly Message[]): VisibleMessage[] =>
  visiblePlaces(messages).flatMap(shown);

/**
 * The same for a conversation that starts with these messages: a summary then covers only what is before it. Also the
 * last checkpoints and rewinds, which people can still name; nothing is taken back by these any more.
 */
export function carriedMessages(messages: readonly Message[]): Message[] {
  const visible = new Set(visiblePlaces(messages).map(({ place }) => place));
  const recorded = messages.flatMap((message, place) => (isRecord(message) ? [place] : []));
  // A state in which a step began counts for all steps since the end of the one before it: that must be kept, too.
  const oldest = recorded.slice(0, 1 - CARRIED_CHECKPOINTS).findLast((place) => endsStep(messages[place]));
  const carried = messages.filter((message, place) =>
    isRecord(message) ? place >= (oldest ?? 0) : visible.has(place),
  );
  return asFirst(carried);
}

/** The same where a summary replaces what the model would see: the context files and the records stay. */
export function summarizedMessages(messages: readonly Message[], text: string): Message[] {
  const context = messages.filter(({ role }) => role === 'context');
  const records = carriedMessages(messages).filter(isRecord);
  return asFirst([...context, ...records, { role: 'summary', text, covers: 0 }]);
}

/** What people can name though the model does not see it. */
const isRecord = ({ role }: Message): boolean => role === 'checkpoint' || role === 'rewind';

/** Whether it records what the files were after a step, or that this is not known. */
const endsStep = (message: Message | undefined): boolean =>
  message?.role === 'checkpoint' ? !message.before : message?.role === 'rewind' && !!message.files;

/** Summaries and rewinds count places: as the first messages of a conversation, these have others than before. */
function asFirst(messages: readonly Message[]): Message[] {
  return messages.map((message, place) => {
    if (message.role === 'summary') return { ...message, covers: place };
    if (message.role !== 'rewind') return message;
    // What it took back is not carried.
    return { ...message, ...(message.keeps !== undefined && { keeps: place }) };
  });
}

function visiblePlaces(messages: readonly Message[]): Placed[] {
  const standing = standingPlaces(messages).flatMap((place): Placed[] => {
    const message = messages[place];
    return message ? [{ message, place }] : [];
  });
  const summary = standing.findLast(({ message }) => message.role === 'summary');
  if (summary?.message.role !== 'summary') return standing;
  const { covers } = summary.message;
  const context = standing.filter(({ message, place }) => place < covers && message.role === 'context');
  const rest = standing.filter(({ message, place }) => place >= covers && message.role !== 'summary');
  return [...context, summary, ...rest];
}

/** What the model reads of a message: also that files changed under it. */
function shown({ message }: Placed): VisibleMessage[] {
  if (message.role === 'checkpoint') return [];
  if (message.role !== 'rewind') return [message];
  const { files, to, keeps } = message;
  // With the conversation, what it knows of the files came back, too.
  if (!files || keeps !== undefined) return [];
  const notRestored = files.notRestored === undefined ? '' : `; ${notRestoredText(files.notRestored)}`;
  const { movedAside: moved } = files;
  const movedAside = moved === undefined ? '' : `; ${movedAsideText({ count: moved, first: [] })}`;
  const text = `[The files of the workspace were brought back to what they were after step ${to}: ${countsText(files.counts)}${notRestored}${movedAside}.]`;
  return [{ role: 'user', text }];
}
