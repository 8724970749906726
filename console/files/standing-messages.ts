// Which messages of a conversation rewinds have taken back, for the page, which knows only types of the contract. Pure.
import type { Message } from '../../contracts/agents/agent';

/** Of the places that still stand, the last one; those before it follow. */
interface Standing {
  place: number;
  before: Standing | null;
}

/**
 * The places that were taken back: of what was said, and of what was done to files, which a rewind may bring back without
 * the conversation and the other way round.
 */
export function takenBack(messages: readonly Message[]): Set<number> {
  const said = standingOf(messages);
  const files = standingFiles(messages);
  return new Set(
    messages.flatMap((message, place) => ((isOfFiles(message) ? files : said).has(place) ? [] : [place])),
  );
}

/** Whether it is about files and nothing else. */
const isOfFiles = (message: Message): boolean =>
  message.role === 'checkpoint' || (message.role === 'rewind' && message.keeps === undefined);

function standingOf(messages: readonly Message[]): Set<number> {
  // By how many messages there were.
  const after: (Standing | null)[] = [null];
  for (const [place, message] of messages.entries()) {
    const kept = message.role === 'rewind' && message.keeps !== undefined ? message.keeps : place;
    after.push({ place, before: after[Math.min(kept, place)] ?? null });
  }
  return placesOf(after.at(-1) ?? null);
}

function standingFiles(messages: readonly Message[]): Set<number> {
  const afterStep = new Map<number, Standing | null>([[0, null]]);
  let last: Standing | null = null;
  for (const [place, message] of messages.entries()) {
    // What a rewind to a step that is not here has brought back is not known.
    if (message.role === 'rewind' && message.files && afterStep.has(message.to))
      last = afterStep.get(message.to) ?? null;
    if (isOfFiles(message)) last = { place, before: last };
    if ('step' in message && message.step !== undefined) afterStep.set(message.step, last);
  }
  return placesOf(last);
}

function placesOf(last: Standing | null): Set<number> {
  const places = new Set<number>();
  for (let at = last; at; at = at.before) places.add(at.place);
  return places;
}
