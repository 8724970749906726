// The agent JSON dialect: one object with `thoughts`, `headline`, `tool_name` and `tool_args`. There may be prose next
// to it and a code fence around it; nothing inside <think> is ever a call.
import type { ParsedReply } from '../../contracts/agents/agent';
import type { ChatMessage, RawReply } from '../provider';
import type { Dialect } from './dialect';
import { isObject, readJson, shown } from './json-text';
import { AS_TEXT, CUT_FENCE, cutOff, endsInFence, malformed } from './malformed';
import type { PromptText } from './prompt-files';
import { extrasOf, steps, writtenText, type ShownResult, type Step } from './steps';
import { codeSpans, inlineCodeAround, isOneSpan } from './code-spans';
import { behindThinking, THINK_TAGS } from './thinking';

export const createAgentJson = (instructions: PromptText): Dialect => ({
  parse,
  instructions,
  callRule: `Write a call as one JSON object: {"tool_name": ..., "tool_args": {...}}. ${AS_TEXT}`,
  messages: (all) => steps(all).flatMap(messagesOf),
});

const { open: OPEN } = THINK_TAGS;
/** Each unclosed brace costs a scan of the rest; after this many there is no call. */
const MAX_OPEN_BRACES = 50;
/** An object that begins like a call; when cut off, it cannot be distinguished from one. */
const BEGINS_AS_CALL = /^\{\s*(?:["']?(?:tool_name|tool_args|thoughts|headline)\b|(?:["'][a-z_]*)?$)/;

function parse({ text, isCut: isCutOff, cutBy }: RawReply): ParsedReply {
  if (isCutOff) return cutOff({ cutBy });
  const { prose, loose, objects, isCut } = scan(text);
  const [json, ...more] = objects;
  if (more.length > 0 || (json !== undefined && isCut)) {
    return malformed('It holds more than one tool call, allowed one.');
  }
  if (isCut)
    return malformed('The JSON object does not end: the reply was cut off or a brace or quote is missing.');
  if (json !== undefined) return parseObject(json, prose);
  if (prose === '') return malformed('It is empty.');
  if (endsInFence(prose)) return malformed(CUT_FENCE);
  if (/^`+\s*\{/.test(prose) && isOneSpan(prose) && isCall(prose.replace(/^`+|`+$/g, '')))
    return malformed('It holds only a call between backticks, which is text: write it without them.');
  return /"tool_(name|args)"\s*:/.test(loose)
    ? malformed('It has "tool_name" but no JSON object around it.')
    : { kind: 'answer', answer: prose };
}

interface Scanned {
  prose: string;
  /** The prose without objects that are not calls. */
  loose: string;
  /** The objects that are calls. */
  objects: string[];
  /** The reply ends within a call. */
  isCut: boolean;
}

/** Splits a reply into calls and the prose around them; thinking is neither. */
function scan(text: string): Scanned {
  const found: Scanned = { prose: '', loose: '', objects: [], isCut: false };
  let openBraces = 0;
  const spans = codeSpans(text);
  const isQuoted = (from: number, to: number): boolean => inlineCodeAround(spans, from, to) !== undefined;
  for (let at = 0; at < text.length && !found.isCut;) {
    if (text.startsWith(OPEN, at) && !inlineCodeAround(spans, at, at + OPEN.length)) {
      at = behindThinking(text, at);
      continue;
    }
    const end = text[at] === '{' && openBraces < MAX_OPEN_BRACES ? objectEnd(text, at) : at + 1;
    if (end < 0) {
      openBraces += 1;
      // Only an unclosed object: whatever it was meant to be, it is not an answer.
      const isAlone = /(?:^|```(?:json)?)\s*$/.test(found.prose);
      found.isCut = isAlone || BEGINS_AS_CALL.test(text.slice(at, at + 200));
    }
    const part = text.slice(at, end < 0 ? at + 1 : end);
    if (part.length > 1 && !isQuoted(at, at + part.length) && isCall(part)) {
      found.objects.push(part);
    } else {
      found.prose += part;
      if (part.length === 1) found.loose += part;
    }
    at += part.length;
  }
  const unfenced = found.objects.length > 0 ? found.prose.replace(/```(json)?/g, '') : found.prose;
  return { ...found, prose: unfenced.trim() };
}

/** JSON with a call's keys at its top level, or text meant as such that is not valid JSON. */
function isCall(object: string): boolean {
  try {
    const value = JSON.parse(object) as object;
    return 'tool_name' in value || 'tool_args' in value;
  } catch {
    return /["']?\btool_(name|args)\b["']?\s*:/.test(object);
  }
}

/** Models that were trained on Agent Zero's prompts answer by a tool of this name. */
const ANSWER_TOOL = 'response';

function answerOf({ text, ...more }: Record<string, unknown>): string | undefined {
  return typeof text === 'string' && Object.keys(more).length === 0 ? text : undefined;
}

function parseObject(json: string, prose: string): ParsedReply {
  const read = readJson(json);
  if ('fault' in read) return malformed(read.fault);
  const { tool_name: tool, tool_args: args, thoughts, headline } = read.value as Record<string, unknown>;
  if (typeof tool !== 'string' || tool === '') {
    return malformed(`"tool_name" must be a name, got ${shown(tool)}.`);
  }
  if (!isObject(args)) return malformed(`"tool_args" must be an object, got ${shown(args)}.`);
  const answer = tool === ANSWER_TOOL ? answerOf(args) : undefined;
  if (answer !== undefined) return { kind: 'answer', answer };
  return {
    kind: 'calls',
    calls: [{ callId: 'call_1', tool, args }],
    headline: typeof headline === 'string' ? headline : null,
    thoughts: (Array.isArray(thoughts) ? thoughts : [thoughts]).filter(
      (t): t is string => typeof t === 'string',
    ),
    prose,
  };
}

/** The position after the brace that closes the one at `start`; -1 if none does. */
function objectEnd(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '{') depth += 1;
    else if (character === '}' && --depth === 0) return at + 1;
  }
  return -1;
}

function messagesOf(step: Step): ChatMessage[] {
  if (step.kind === 'said') return [{ role: 'user', text: step.text }];
  const results: ChatMessage[] = step.results.map((result) => ({ role: 'user', text: resultText(result) }));
  return step.message
    ? [{ role: 'assistant', text: writtenText(step.message, inWords), ...extrasOf(step.message) }, ...results]
    : results;
}

function inWords({ calls, headline, thoughts }: Extract<ParsedReply, { kind: 'calls' }>): string {
  const said = { ...(thoughts.length > 0 && { thoughts }), ...(headline !== null && { headline }) };
  return calls
    .map(({ tool, args }) => JSON.stringify({ ...said, tool_name: tool, tool_args: args }))
    .join('\n');
}

/** A line of JSON that describes the result, then the raw output: as JSON it would be longer and hard to read. */
function resultText({ tool, isError, content, note }: ShownResult): string {
  const head = {
    tool_name: tool,
    tool_result: isError ? 'error' : 'ok',
    ...(note !== undefined && { note }),
  };
  return `${JSON.stringify(head)}\n${content}`;
}
