// Answers that must match a JSON Schema: one that does not is malformed, and the model is told where. Ajv, because it
// is the field's reference for JSON Schema, and is in the tree for MCP already.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import type { ParsedReply } from '../contracts/agent';
import { HoldfastError, reasonOf } from '../contracts/errors';
import type { JsonSchema, JsonValue } from '../contracts/tools';

const MAX_FAULTS = 10;

/** The reply, its answer as JSON. Throws `invalid_input` for a schema that is none. */
export function checkedAnswer(reply: ParsedReply, schema: JsonSchema | undefined): ParsedReply {
  if (!schema || reply.kind !== 'answer') return reply;
  const isValid = compiled(schema);
  const text = reply.answer.replace(/^\s*```(?:json)?\s*\n([^]*?)\n\s*```\s*$/, '$1');
  let output: JsonValue;
  try {
    output = JSON.parse(text) as JsonValue;
  } catch (err) {
    const problem = `The answer must be JSON that matches the schema, and nothing else: ${reasonOf(err)}.`;
    return { kind: 'malformed', problem };
  }
  if (isValid(output)) return { kind: 'answer', answer: text.trim(), output };
  const faults = (isValid.errors ?? [])
    .slice(0, MAX_FAULTS)
    .map(({ instancePath, message }) => `"${instancePath}" ${message}`);
  return { kind: 'malformed', problem: `The answer does not match the schema: ${faults.join('; ')}.` };
}

/** What the model is told of it. */
export const answerRule = (schema: JsonSchema): string =>
  `Your final answer must be JSON, and nothing else, that matches this JSON Schema:\n${JSON.stringify(schema)}`;

const cache = new Map<string, ValidateFunction>();
const MAX_CACHED = 100;

function compiled(schema: JsonSchema): ValidateFunction {
  const key = JSON.stringify(schema);
  const known = cache.get(key);
  if (known) return known;
  if (cache.size >= MAX_CACHED) cache.clear();
  try {
    const made = new Ajv2020({ allErrors: true, strict: false, validateFormats: false }).compile(schema);
    cache.set(key, made);
    return made;
  } catch (err) {
    const facts = { what: 'The outputSchema', got: reasonOf(err), allowed: 'a JSON Schema of draft 2020-12' };
    throw new HoldfastError('invalid_input', facts);
  }
}
