// The agent JSON dialect: one object with `thoughts`, `headline`, `tool_name` and `tool_args`. Prose may
// stand beside it, a code fence around it; what stands inside <think> is never a call.
import type { ParsedReply } from '../../contracts/agent';
import type { ChatMessage, RawReply } from '../provider';
import type { Dialect } from './dialect';
import { withMendedCode } from './escaped-code';
import { isObject, readJson, shown } from './json-text';
import { CUT_FENCE, cutOff, endsInFence, malformed } from './malformed';
import type { PromptText } from './prompts';
import { steps, writtenText, type ShownResult, type Step } from './steps';

export const createAgentJson = (instructions: PromptText): Dialect => ({
  parse,
  instructions,
  messages: (all) => steps(all).flatMap(messagesOf),
});

/** Each brace that is never closed costs a look through the rest; behind so many there is no call. */
const MAX_OPEN_BRACES = 200;
/** An object that begins as a call does; cut off, it cannot be told from one. */
const BEGINS_AS_CALL = /^\{\s*(?:["']?(?:tool_name|tool_args|thoughts|headline)\b|(?:["'][a-z_]*)?$)/;

function parse({ text, isCut: isCutOff }: RawReply): ParsedReply {
  if (isCutOff) return cutOff();
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
  return /"tool_(name|args)"\s*:/.test(loose)
    ? malformed('It has "tool_name" but no JSON object around it.')
    : { kind: 'answer', answer: prose };
}

interface Scanned {
  prose: string;
  /** The prose without the objects in it that are no calls. */
  loose: string;
  /** The objects that are calls. */
  objects: string[];
  /** It ends within a call. */
  isCut: boolean;
}

/** Divides a reply into calls and the prose around them; thinking is neither. */
function scan(text: string): Scanned {
  const found: Scanned = { prose: '', loose: '', objects: [], isCut: false };
  let openBraces = 0;
  for (let at = 0; at < text.length && !found.isCut;) {
    if (text.startsWith('<think>', at)) {
      const end = text.indexOf('</think>', at);
      at = end < 0 ? text.length : end + '</think>'.length;
      continue;
    }
    const end = text[at] === '{' && openBraces < MAX_OPEN_BRACES ? objectEnd(text, at) : at + 1;
    if (end < 0) {
      openBraces += 1;
      // Nothing but an opened object: whatever it was to be, it is no answer.
      const isAlone = /(?:^|```(?:json)?)\s*$/.test(found.prose);
      found.isCut = isAlone || BEGINS_AS_CALL.test(text.slice(at, at + 200));
    }
    const part = text.slice(at, end < 0 ? at + 1 : end);
    if (part.length > 1 && isCall(part)) {
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

/** JSON with a call's keys at its top; or what was meant as such and is no JSON. */
function isCall(object: string): boolean {
  try {
    const value = JSON.parse(object) as object;
    return 'tool_name' in value || 'tool_args' in value;
  } catch {
    return /["']?\btool_(name|args)\b["']?\s*:/.test(object);
  }
}

function parseObject(json: string, prose: string): ParsedReply {
  const read = readJson(json);
  if ('fault' in read) return malformed(read.fault);
  const { tool_name: tool, tool_args: args, thoughts, headline } = read.value as Record<string, unknown>;
  if (typeof tool !== 'string' || tool === '') {
    return malformed(`"tool_name" must be a name, got ${shown(tool)}.`);
  }
  if (!isObject(args)) return malformed(`"tool_args" must be an object, got ${shown(args)}.`);
  return {
    kind: 'calls',
    calls: [withMendedCode({ callId: 'call_1', tool, args })],
    headline: typeof headline === 'string' ? headline : null,
    thoughts: (Array.isArray(thoughts) ? thoughts : [thoughts]).filter(
      (t): t is string => typeof t === 'string',
    ),
    prose,
  };
}

/** The position behind the brace that closes the one at `start`; -1 when none does. */
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
    ? [{ role: 'assistant', text: writtenText(step.message, inWords) }, ...results]
    : results;
}

function inWords({ calls, headline, thoughts }: Extract<ParsedReply, { kind: 'calls' }>): string {
  const said = { ...(thoughts.length > 0 && { thoughts }), ...(headline !== null && { headline }) };
  return calls
    .map(({ tool, args }) => JSON.stringify({ ...said, tool_name: tool, tool_args: args }))
    .join('\n');
}

/** A line of JSON that says what it is, and the output as it is: in JSON it would be longer and hard to read. */
function resultText({ tool, isError, content, note }: ShownResult): string {
  const head = {
    tool_name: tool,
    tool_result: isError ? 'error' : 'ok',
    ...(note !== undefined && { note }),
  };
  return `${JSON.stringify(head)}\n${content}`;
}
