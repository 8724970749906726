// The tools of a request as a wire protocol takes them. What cannot be made fit is left out, and the model learns that: one tool
// must not fail every request.
import { beginningOf } from '../../../contracts/text/well-formed';
import type { ToolDescription } from '../../../contracts/tools/tools';
import type { WireApi } from '../../../contracts/models/model-names';
import { MAX_FUNCTIONS } from '../../../contracts/models/function-limits';
import { functionParameters } from './function-parameters';
import type { ChatMessage, NativeCall } from '../../provider';
import { ArgumentNames } from './argument-names';
import { inCurrentDraft } from './schema-draft';

/** Of OpenAI's protocols: https://platform.openai.com/docs/api-reference/chat/create. */
const MAX_DESCRIPTION = 1_024;
const GOES_ON = ' […] (goes on in the description of the parameters)';

export interface FittedTools {
  tools: ToolDescription[];
  /** What the model must know of it; empty if all tools are offered. */
  remark: string;
  /** The conversation with the calls as the model sees them. */
  shown: (messages: readonly ChatMessage[]) => ChatMessage[];
  /** The model's calls as the tools take them. */
  taken: (calls: readonly NativeCall[]) => NativeCall[];
}

export interface Fitting {
  tools: readonly ToolDescription[];
  messages: readonly ChatMessage[];
  wireApi: WireApi;
  /** Tools that the server does not take, each with the reason. */
  refused: ReadonlyMap<ToolDescription['parameters'], string>;
}

export function fitTools({ tools, messages, wireApi, refused }: Fitting): FittedTools {
  const accepted = tools.filter(({ parameters }) => !refused.has(parameters));
  const offered = wireApi === 'anthropic' ? accepted : mostWanted(accepted, messages);
  const names = new Map(offered.map((tool) => [tool.name, namesOf(tool)]));
  const withArgs = (call: NativeCall, how: 'asShown' | 'asTaken'): NativeCall => {
    const known = names.get(call.tool);
    return known ? { ...call, args: known[how](call.args) } : call;
  };
  return {
    tools: offered.map((tool) => fitted(tool, wireApi)),
    remark: remarkOn(tools, offered, refused),
    shown: (all) =>
      all.map((message) =>
        message.role === 'assistant' && message.calls
          ? { ...message, calls: message.calls.map((call) => withArgs(call, 'asShown')) }
          : message,
      ),
    taken: (calls) => calls.map((call) => withArgs(call, 'asTaken')),
  };
}

/** Those that are no server's, then those that the conversation has used, then the first ones; in their own order. */
function mostWanted(tools: readonly ToolDescription[], messages: readonly ChatMessage[]): ToolDescription[] {
  if (tools.length <= MAX_FUNCTIONS) return [...tools];
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.calls ?? []) : []));
  const used = new Set(calls.map(({ tool }) => tool));
  const rank = ({ name }: ToolDescription): number =>
    !name.startsWith('mcp__') ? 0 : used.has(name) ? 1 : 2;
  const wanted = new Set([...tools].sort((a, b) => rank(a) - rank(b)).slice(0, MAX_FUNCTIONS));
  return tools.filter((tool) => wanted.has(tool));
}

function remarkOn(
  all: readonly ToolDescription[],
  offered: readonly ToolDescription[],
  refused: Fitting['refused'],
): string {
  const kept = new Set(offered);
  const missing = all.filter((tool) => !kept.has(tool));
  if (missing.length === 0) return '';
  const lines = missing.flatMap(({ name, parameters }) => {
    const reason = refused.get(parameters);
    return reason === undefined ? [] : [`- ${name}: the model's server does not take it: ${reason}`];
  });
  const others = missing.filter(({ parameters }) => !refused.has(parameters)).map(({ name }) => name);
  if (others.length > 0)
    lines.push(`- ${others.join(', ')}: the protocol takes ${MAX_FUNCTIONS} tools, got ${all.length}`);
  return `Tools that cannot be called as functions here; code in a session can still call them:\n${lines.join('\n')}`;
}

/** By the parameters: descriptions are made anew for each request. */
const NAMES = new WeakMap<object, ArgumentNames>();

function namesOf({ parameters }: ToolDescription): ArgumentNames {
  const known = NAMES.get(parameters) ?? new ArgumentNames(inCurrentDraft(parameters));
  NAMES.set(parameters, known);
  return known;
}

function fitted(tool: ToolDescription, wireApi: WireApi): ToolDescription {
  const parameters = functionParameters(namesOf(tool).shown());
  const { description } = tool;
  if (wireApi === 'anthropic' || description.length <= MAX_DESCRIPTION) return { ...tool, parameters };
  const room = MAX_DESCRIPTION - GOES_ON.length;
  const at = Math.max(description.lastIndexOf(' ', room), description.lastIndexOf('\n', room));
  const end = at > room / 2 ? at : beginningOf(description, room).length;
  const own = typeof parameters.description === 'string' ? [parameters.description] : [];
  return {
    ...tool,
    description: description.slice(0, end) + GOES_ON,
    parameters: { ...parameters, description: [`[…]${description.slice(end)}`, ...own].join('\n') },
  };
}
