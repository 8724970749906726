// The agent JSON dialect: one object with `thoughts`, `headline`, `tool_name` and `tool_args`. Prose may
// stand beside it, a code fence around it; what stands inside <think> is never a call.
import type { ParsedReply } from '../../contracts/agent';
import type { Dialect, ToolDescription } from './dialect';

export const agentJson: Dialect = { parse, instructions };

function parse(text: string): ParsedReply {
  const thinking = /<think>[\s\S]*?(<\/think>|$)/g;
  const said = text.replace(thinking, '').trim();
  if (said === '') return malformed('It is empty.');
  const start = objectStart(said);
  if (start < 0) {
    return /"tool_(name|args)"\s*:/.test(said)
      ? malformed('It has "tool_name" but no JSON object around it.')
      : { kind: 'answer', answer: said };
  }
  const end = objectEnd(said, start);
  if (end < 0)
    return malformed('The JSON object does not end: the reply was cut off or a brace or quote is missing.');
  if (objectStart(said.slice(end)) >= 0) return malformed('It holds more than one tool call, allowed one.');
  const prose = `${said.slice(0, start)}${said.slice(end)}`.replace(/```(json)?/g, '').trim();
  return parseObject(said.slice(start, end), prose);
}

function parseObject(json: string, prose: string): ParsedReply {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(json) as Record<string, unknown>;
  } catch (err) {
    return malformed(`The JSON is invalid: ${(err as Error).message}.`);
  }
  const { tool_name: tool, tool_args: args, thoughts, headline } = value;
  if (typeof tool !== 'string' || tool === '')
    return malformed(`"tool_name" must be a name, got ${JSON.stringify(tool)}.`);
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

/** Where the object with "tool_name" among its own keys begins: other JSON in an answer is text. */
function objectStart(text: string): number {
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) {
    const end = objectEnd(text, at);
    const object = end < 0 ? text.slice(at) : text.slice(at, end);
    if (/^\{\s*"/.test(object) && /"tool_name"\s*:/.test(object)) return at;
    if (end >= 0) at = end - 1;
  }
  return -1;
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
