// The agent JSON dialect: one object with `thoughts`, `headline`, `tool_name` and `tool_args`. Prose may
// stand beside it, a code fence around it; what stands inside <think> is never a call.
import type { Message, ParsedReply } from '../../contracts/agent';
import type { ToolDescription } from '../../contracts/tools';
import type { ChatMessage, RawReply } from '../provider';
import type { Dialect } from './dialect';

export const agentJson: Dialect = { parse, instructions, messages };

/** Each brace that is never closed costs a look through the rest; behind so many there is no call. */
const MAX_OPEN_BRACES = 200;
/** An object that begins as a call does; cut off, it cannot be told from one. */
const BEGINS_AS_CALL = /^\{\s*["']?(?:tool_name|tool_args|thoughts|headline)\b/;

function parse({ text }: RawReply): ParsedReply {
  const { prose, loose, objects, isCut } = scan(text);
  const [json, ...more] = objects;
  if (more.length > 0 || (json !== undefined && isCut)) {
    return malformed('It holds more than one tool call, allowed one.');
  }
  if (isCut)
    return malformed('The JSON object does not end: the reply was cut off or a brace or quote is missing.');
  if (json !== undefined) return parseObject(json, prose);
  if (prose === '') return malformed('It is empty.');
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
      const isAlone = /^\s*(```(json)?)?\s*$/.test(found.prose);
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
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(json) as Record<string, unknown>;
  } catch (err) {
    return malformed(`The JSON is invalid: ${(err as Error).message}.`);
  }
  const { tool_name: tool, tool_args: args, thoughts, headline } = value;
  if (typeof tool !== 'string' || tool === '') {
    return malformed(`"tool_name" must be a name, got ${JSON.stringify(tool)}.`);
  }
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    return malformed(`"tool_args" must be an object, got ${JSON.stringify(args)}.`);
  }
  return {
    kind: 'calls',
    calls: [{ callId: 'call_1', tool, args: args as Record<string, unknown> }],
    headline: typeof headline === 'string' ? headline : null,
    thoughts: (Array.isArray(thoughts) ? thoughts : [thoughts]).filter(
      (t): t is string => typeof t === 'string',
    ),
    prose,
  };
}

const malformed = (problem: string): ParsedReply => ({ kind: 'malformed', problem });

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

function instructions(tools: readonly ToolDescription[]): string {
  const list = tools.map(
    (tool) =>
      `### ${tool.name}\n${tool.description}\nArguments (JSON Schema): ${JSON.stringify(tool.parameters)}`,
  );
  return [
    'To call a tool, reply with one JSON object and nothing else:',
    '{"thoughts": ["..."], "headline": "what this step does", "tool_name": "...", "tool_args": {...}}',
    'A reply without such an object is your final answer.',
    '## Tools',
    ...list,
  ].join('\n\n');
}

function messages(all: readonly Message[]): ChatMessage[] {
  return all.map((message) =>
    message.role === 'assistant'
      ? { role: 'assistant', text: message.text }
      : { role: 'user', text: message.role === 'tool' ? message.content : message.text },
  );
}
