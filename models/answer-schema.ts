// Answers that must match a JSON Schema: one that does not is malformed, and the model learns where. Ajv, because it
// is the de facto standard for JSON Schema, and already in the tree for MCP.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import type { ParsedReply } from '../contracts/agents/agent';
import { HoldfastError, reasonOf } from '../contracts/errors/holdfast-error';
import type { JsonSchema, JsonValue } from '../contracts/tools/tools';
import { withinTime } from '../system/time-limit';
import { readJson } from './dialects/json-text';

const MAX_FAULTS = 10;

/** The reply with its answer as JSON. Throws `invalid_input` for an invalid schema. */
export function checkedAnswer(reply: ParsedReply, schema: JsonSchema | undefined): ParsedReply {
  if (!schema || reply.kind !== 'answer') return reply;
  const isValid = compiled(schema);
  const text = unfenced(reply.answer.trim());
  // Not deeper than what can be recorded.
  const read = readJson(text);
  if ('fault' in read) {
    const problem = `The answer must be JSON that matches the schema, and nothing else. ${read.fault}`;
    return { kind: 'malformed', problem };
  }
  const output = read.value as JsonValue;
  if (inTime(() => isValid(output))) return { kind: 'answer', answer: text, output };
  const faults = (isValid.errors ?? [])
    .slice(0, MAX_FAULTS)
    .map(({ instancePath, message }) => `"${instancePath}" ${message}`);
  return { kind: 'malformed', problem: `The answer does not match the schema: ${faults.join('; ')}.` };
}

/** The text without a code fence around all of it. */
function unfenced(text: string): string {
  const lineEnd = text.indexOf('\n');
  const isFenced =
    /^```(?:json)?$/.test(text.slice(0, Math.max(0, lineEnd)).trimEnd()) && text.endsWith('\n```');
  return isFenced ? text.slice(lineEnd, -3).trim() : text;
}

/** Limit for a check: a pattern may run forever, and block the worker with everything it does. */
const CHECK_MS = 2_000;

/** Runs a check, and ends it when its time is up. Throws `invalid_input` for a schema that cannot be checked. */
function inTime<T>(check: () => T): T {
  try {
    return withinTime(CHECK_MS, check);
  } catch (err) {
    throw invalid(reasonOf(err));
  }
}

const invalid = (got: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'The outputSchema',
    got,
    allowed: `a JSON Schema of draft 2020-12 that is checked within ${CHECK_MS} ms`,
  });

/** What the model reads about it. */
export const answerRule = (schema: JsonSchema): string =>
  `Your final answer must be JSON, and nothing else, that matches this JSON Schema:\n${JSON.stringify(schema)}`;

const cache = new Map<string, ValidateFunction>();
const MAX_CACHED = 100;

function compiled(schema: JsonSchema): ValidateFunction {
  const key = JSON.stringify(schema);
  const known = cache.get(key);
  if (known) return known;
  if (cache.size >= MAX_CACHED) cache.clear();
  const made = inTime(() =>
    new Ajv2020({ allErrors: true, strict: false, validateFormats: false }).compile(schema),
  );
  // An extension of Ajv: its checks are promises, which are truthy whatever their outcome.
  if ('$async' in made) throw invalid('"$async"');
  cache.set(key, made);
  return made;
}
