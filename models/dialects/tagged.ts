// The tagged dialect: a block `<tool>[{call_id, tool_name, arguments}, ...]</tool>`, with references between its calls.
// Prose may accompany the block. Anything that is not exactly a block of calls is refused, with the reason.
import type { ParsedReply, ToolCall } from '../../contracts/agents/agent';
import { CALL_ID_PATTERN, findReferences, referenceFault } from '../../contracts/agents/references';
import type { ChatMessage, RawReply } from '../provider';
import { isOneSpan } from './code-spans';
import type { Dialect } from './dialect';
import { isObject, readJson, shown } from './json-text';
import { AS_TEXT, cutOff, malformed } from './malformed';
import type { PromptText } from './prompt-files';
import { extrasOf, steps, writtenText, type Step } from './steps';
import { scanReply, type Tags } from './tagged-block';
import { taggedResults } from './tagged-results';

export const createTagged = (tags: Tags, instructions: PromptText): Dialect => ({
  parse: (reply) => parse(reply, tags),
  instructions,
  callRule: `Write a call as ${tags.start}[{"call_id": ..., "tool_name": ..., "arguments": {...}}]${tags.end}. ${AS_TEXT}`,
  messages: (all) => steps(all).flatMap((step) => messagesOf(step, tags)),
});

function parse({ text, isCut, cutBy }: RawReply, tags: Tags): ParsedReply {
  if (isCut) return cutOff({ cutBy });
  const { prose, blocks, fault } = scanReply(text, tags);
  if (fault !== null) return malformed(fault);
  const [block, ...more] = blocks;
  if (more.length > 0) {
    return malformed(
      `It holds ${blocks.length} blocks, allowed one: put all calls into the list of one block.`,
    );
  }
  if (block !== undefined) return parseBlock(block, prose);
  if (prose === '') return malformed('It is empty: neither an answer nor a block of calls.');
  if (prose.startsWith('`') && prose.endsWith('`') && prose.includes(tags.start) && isOneSpan(prose))
    return malformed('It holds only a block between backticks, which is text: write it without them.');
  if (/^(?:```\w*\s*)?[[{][^]*"tool_name"\s*:/.test(prose)) {
    return malformed(
      `It has "tool_name" without the tags around it: ${tags.start} before and ${tags.end} after.`,
    );
  }
  return { kind: 'answer', answer: prose };
}

function parseBlock(json: string, prose: string): ParsedReply {
  if (json === '') return malformed('The block is empty, allowed a JSON list of calls.');
  const read = readJson(json);
  if ('fault' in read) {
    const hint = /^[[{]/.test(json) ? '' : ' To mention the tags, write each between backticks.';
    return malformed(`${read.fault}${hint}`);
  }
  const items: unknown[] = Array.isArray(read.value) ? read.value : [read.value];
  if (items.length === 0) return malformed('The list in the block is empty, allowed one call or more.');
  const faults = items.flatMap((item, index) => callFaults(item, index + 1));
  if (faults.length > 0) return malformed(faults.join(' '));
  const calls = withIds(items as WrittenCall[]);
  const ids = calls.map(({ callId }) => callId);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined)
    return malformed(`Two calls have the "call_id" ${shown(twice)}, allowed one of each.`);
  const fault = referenceFault(calls);
  return fault === null ? { kind: 'calls', calls, headline: null, thoughts: [], prose } : malformed(fault);
}

interface WrittenCall {
  call_id?: string | null;
  tool_name: string;
  arguments: Record<string, unknown>;
}

function callFaults(item: unknown, number: number): string[] {
  const at = `Call ${number}:`;
  if (!isObject(item)) {
    return [`${at} got ${shown(item)}, allowed an object with "call_id", "tool_name" and "arguments".`];
  }
  const { call_id: id, tool_name: tool, arguments: args } = item;
  const keys = `; its keys are ${Object.keys(item).map(shown).join(', ') || 'none'}`;
  const faults: string[] = [];
  if (!isMissing(id) && !(typeof id === 'string' && CALL_ID_PATTERN.test(id))) {
    const allowed = 'up to 64 letters of a-z and A-Z, digits, "_" and "-", a letter or "_" first';
    faults.push(`${at} "call_id" is ${shown(id)}, allowed ${allowed}.`);
  }
  if (typeof tool !== 'string' || tool === '') {
    faults.push(`${at} "tool_name" must be a name, got ${shown(tool)}${tool === undefined ? keys : ''}.`);
  }
  if (!isObject(args)) {
    faults.push(`${at} "arguments" must be an object, got ${shown(args)}${args === undefined ? keys : ''}.`);
  }
  return faults;
}

const isMissing = (id: unknown): boolean => id === undefined || id === null || id === '';

/** Calls without an id are named by position, unless another has that name. */
function withIds(items: readonly WrittenCall[]): ToolCall[] {
  const taken = new Set(items.map((item) => item.call_id));
  return items.map(({ call_id: id, tool_name: tool, arguments: args }, index) => {
    let callId = id || `call_${index + 1}`;
    while (!id && taken.has(callId)) callId += '_';
    return { callId, tool, args, needs: findReferences(args) };
  });
}

function messagesOf(step: Step, tags: Tags): ChatMessage[] {
  if (step.kind === 'said') return [{ role: 'user', text: step.text }];
  const results: ChatMessage[] =
    step.results.length === 0 ? [] : [{ role: 'user', text: taggedResults(step.results) }];
  if (!step.message) return results;
  const text = writtenText(step.message, ({ calls }) => blockOf(calls, tags));
  return [{ role: 'assistant', text, ...extrasOf(step.message) }, ...results];
}

function blockOf(calls: readonly ToolCall[], { start, end }: Tags): string {
  const list = calls.map(({ callId, tool, args }) => ({ call_id: callId, tool_name: tool, arguments: args }));
  return `${start}\n${JSON.stringify(list)}\n${end}`;
}
