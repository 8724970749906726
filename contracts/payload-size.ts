// Size limits. Temporal refuses a payload above 2 MiB, and a workflow that makes one fails the same task forever.
// So replies, results, turns and pages are bounded here, in bytes of JSON, as they are recorded. Pure.
import { utf8Length } from './schemas/session';
import { beginningOf, endOf } from './text/well-formed';

/** A message to an agent. */
export const MAX_MESSAGE_BYTES = 500_000;
/** A model's reply: its text and its parsed form together. */
export const MAX_REPLY_BYTES = 500_000;
/** A tool's result. */
export const MAX_TOOL_RESULT_BYTES = 262_144;
/** A turn with this many bytes of messages takes no further step. */
export const FULL_TURN_BYTES = 1_250_000;
/** All messages of a turn: the limit above, one more reply, and the rest for the results of its calls. */
export const MAX_TURN_BYTES = 1_800_000;
/** The text of an error that a script's call ends with. */
export const MAX_ERROR_BYTES = 65_536;
/** The outcomes of calls in one answer to a host's worker, or the first of them. */
export const MAX_RESULTS_BYTES = 1_000_000;
/** The tools that a host without agents learns of. */
export const MAX_OFFER_BYTES = 500_000;
/** A page of a transcript ends here, or with its first message. */
export const MAX_TRANSCRIPT_PAGE_BYTES = 524_288;

/** Bytes of a value as Temporal's default converter writes it. */
export const jsonBytes = (value: unknown): number => utf8Length(JSON.stringify(value) ?? '');

/** Bytes of a message in a list, with its separator. */
export const messageBytes = (message: object): number => jsonBytes(message) + 1;

/** The text, or its beginning and end with a note in between, so that it takes at most `maxBytes` as JSON. */
export function fitText(text: string, maxBytes: number): string {
  const bytes = jsonBytes(text);
  if (bytes <= maxBytes) return text;
  for (let kept = Math.floor((text.length * maxBytes) / bytes); ; kept = Math.floor(kept * 0.8)) {
    const head = beginningOf(text, Math.ceil(kept / 2));
    const tail = endOf(text, Math.floor(kept / 2));
    const shown = `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
    if (kept === 0 || jsonBytes(shown) <= maxBytes) return shown;
  }
}

/** The longest beginning of whole lines that takes at most `maxBytes` as JSON. */
export function fitLines(text: string, maxBytes: number): string {
  if (jsonBytes(text) <= maxBytes) return text;
  let bytes = jsonBytes('');
  let end = 0;
  for (let next = text.indexOf('\n') + 1; next > 0; next = text.indexOf('\n', end) + 1) {
    bytes += jsonBytes(text.slice(end, next)) - jsonBytes('');
    if (bytes > maxBytes) break;
    end = next;
  }
  return text.slice(0, end);
}
