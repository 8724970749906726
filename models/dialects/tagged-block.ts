// Finds the block of calls in a reply of the tagged dialect: `<tool>[...]</tool>`, with the prose around it. Everything
// inside <think> is ignored, and inline code, between backticks, is text.
import { CUT_FENCE, endsInFence } from './malformed';
import { codeSpans, inlineCodeAround, type Span } from './code-spans';
import { behindThinking, THINK_TAGS } from './thinking';

export interface Tags {
  start: string;
  end: string;
}

/** Tags that text and JSON rarely contain by chance. */
const TAG_PATTERN = /^[<[{][^\s`"\\]{2,63}$/;

export function tagFaults(tags: Tags): string[] {
  const marks = [tags.start, tags.end, THINK_TAGS.open, THINK_TAGS.close];
  return (['start', 'end'] as const).flatMap((side) => {
    const tag = tags[side];
    const key = `[dialects] tool_tag_${side}`;
    if (!TAG_PATTERN.test(tag) || !/[a-z]/i.test(tag)) {
      const allowed =
        '3 to 64 characters with a letter, "<", "[" or "{" first, no blanks, quotes or backslashes';
      return [`${key}: got ${JSON.stringify(tag)}, allowed ${allowed}`];
    }
    const other = marks.find(
      (mark, index) => index !== (side === 'start' ? 0 : 1) && (mark.includes(tag) || tag.includes(mark)),
    );
    return other === undefined ? [] : [`${key}: got ${tag}, which cannot be told from ${other}`];
  });
}

export interface ScannedReply {
  prose: string;
  /** The text between the tags of each block. */
  blocks: string[];
  /** What is wrong with the reply, as a sentence for the model. */
  fault: string | null;
}

export function scanReply(text: string, tags: Tags): ScannedReply {
  const marks = [tags.start, tags.end, THINK_TAGS.open, THINK_TAGS.close];
  const anyMark = new RegExp(marks.map(escapeExpression).join('|'), 'g');
  const found: ScannedReply = { prose: '', blocks: [], fault: null };
  const spans = codeSpans(text);
  let at = 0;
  while (at < text.length) {
    anyMark.lastIndex = at;
    const match = anyMark.exec(text);
    found.prose += text.slice(at, match?.index ?? text.length);
    if (!match) break;
    const [mark] = match;
    at = match.index + mark.length;
    const quote = quoteAround(text, { from: match.index, to: at }, { spans, tags });
    if (quote) {
      found.prose += text.slice(match.index, quote.end);
      at = quote.end;
    } else if (mark === THINK_TAGS.open) at = behindThinking(text, at);
    else if (mark === THINK_TAGS.close) Object.assign(found, { prose: '', blocks: [], fault: null });
    else if (mark === tags.end) found.fault ??= `It has ${tags.end} without ${tags.start} before it.`;
    else at = takeBlock(text, at, tags, found);
  }
  // After a block or thinking the tail is empty, and no tag was begun.
  found.fault ??= cutFault(found.prose, text.slice(at), marks);
  return { ...found, prose: found.prose.trim() };
}

/** The inline code around a mark, unless that is a backtick within the JSON of a block that the mark begins. */
function quoteAround(
  text: string,
  { from, to }: { from: number; to: number },
  { spans, tags }: { spans: readonly Span[]; tags: Tags },
): Span | undefined {
  const span = inlineCodeAround(spans, from, to);
  if (!span || text.slice(from, to) !== tags.start) return span;
  const rest = text.slice(to, span.end);
  return /^\s*[[{]/.test(rest) && !rest.includes(tags.end) ? undefined : span;
}

/** Adds the block that begins at `from`, and returns the position after it. */
function takeBlock(text: string, from: number, tags: Tags, found: ScannedReply): number {
  const block = readBlock(text, from, tags);
  if (block === null) {
    found.fault ??= text.includes(tags.end, from)
      ? `The block does not end: a string in its JSON is not closed before ${tags.end}.`
      : `The block does not end: the reply was cut off, or ${tags.end} is missing.`;
    return text.length;
  }
  found.blocks.push(withoutFence(block.json));
  // A reply with two blocks is refused whatever its prose, which is not read again for each of them.
  if (found.blocks.length > 1) return block.end;
  // The fence around a block is not prose.
  const isFenced = (found.prose.match(/```/g)?.length ?? 0) % 2 === 1;
  const opened = isFenced ? /```[\w-]*\s*$/.exec(found.prose) : null;
  if (!opened) return block.end;
  found.prose = found.prose.slice(0, opened.index);
  return block.end + (/^\s*```/.exec(text.slice(block.end))?.[0].length ?? 0);
}

/** The text up to the end tag, which counts only outside JSON strings; null if there is none. */
function readBlock(text: string, from: number, tags: Tags): { json: string; end: number } | null {
  let json = '';
  let isQuoted = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at] ?? '';
    if (isQuoted) {
      if (character === '\\') json += character + (text[++at] ?? '');
      else json += character;
      isQuoted = character !== '"';
      continue;
    }
    if (text.startsWith(tags.end, at)) return { json, end: at + tags.end.length };
    if (text.startsWith(THINK_TAGS.open, at)) {
      at = behindThinking(text, at) - 1;
      continue;
    }
    // The text so far was thinking: the caller, which continues here, drops it.
    if (text.startsWith(THINK_TAGS.close, at)) return { json, end: at };
    isQuoted = character === '"';
    json += character;
  }
  return null;
}

const withoutFence = (json: string): string =>
  json
    .trim()
    .replace(/^```[\w-]*\s*/, '')
    .replace(/```$/, '')
    .trimEnd();

/** Whether a reply ends within a tag or an unfinished code fence. */
function cutFault(prose: string, tail: string, marks: readonly string[]): string | null {
  if (endsInFence(prose)) return CUT_FENCE;
  const cut = marks.find((mark) =>
    Array.from(mark, (_, length) => length).some(
      (length) => length > 0 && tail.endsWith(mark.slice(0, length)),
    ),
  );
  return cut === undefined ? null : `It ends within ${cut}: it was cut off.`;
}

const escapeExpression = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
