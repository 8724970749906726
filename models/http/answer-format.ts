// What an answer must match, for OpenAI's two protocols: as a part of the request, where the server takes it. The
// instructions have it, too, and the answer is checked.
import type { JsonSchema } from '../../contracts/tools/tools';
import { isObject } from '../dialects/json-text';
import type { Concession, Made } from './concessions';
import type { WireCall } from './wire-protocol';
import { isVendors } from './openai-client';
import { fieldsOf, listOf, type Fields } from './replies/untrusted';

/** Azure's servers run the vendor's models with the vendor's rules. */
const AZURE = /^https:\/\/[a-z0-9-]+\.(openai|services\.ai|cognitiveservices)\.azure\.(?:com|us|cn)(\/|$)/;

const hasVendorsRules = (call: Pick<WireCall, 'access'>): boolean =>
  isVendors(call) || AZURE.test(call.access.baseUrl ?? '');

/** What the vendor refuses at the root, beside a type other than `object`. */
const NOT_AT_ROOT = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'];

/** Keywords that the vendor may enforce. A schema with any other is only advice to its model: answers are checked here. */
const ENFORCED = new Set([
  ...['$schema', '$ref', '$defs', 'definitions', 'title', 'description', 'type', 'enum', 'const', 'anyOf'],
  ...['properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems', 'pattern', 'format'],
  ...['minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
]);

const FORMATS: readonly unknown[] = 'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' ');

export interface AnswerFormat {
  name: string;
  schema: Record<string, unknown>;
  strict: boolean;
}

/** What an answer must match, in the form of both APIs; undefined if the server would refuse every request with it. */
export function answerFormat(call: Pick<WireCall, 'access' | 'outputSchema'>): AnswerFormat | undefined {
  const { outputSchema: schema } = call;
  if (!schema || (!isObjectAtRoot(schema) && hasVendorsRules(call))) return undefined;
  return { name: 'answer', schema: { ...schema }, strict: isStrict(schema) };
}

/** How to ask without it: not every server takes every schema. */
export const formatConcession = (format: AnswerFormat | undefined): Concession[] =>
  format ? [{ key: keyOf(format), named: /response_format|text\.format|schema/i, unnamed: true }] : [];

export const formatUnless = (format: AnswerFormat | undefined, made: Made): AnswerFormat | undefined =>
  format && !made(keyOf(format)) ? format : undefined;

const keyOf = ({ schema }: AnswerFormat): string => JSON.stringify(schema);

const isObjectAtRoot = (schema: JsonSchema): boolean =>
  schema.type === 'object' && !NOT_AT_ROOT.some((key) => key in schema);

/** The vendor enforces a schema only if each value has a type, and each object requires all its keys and allows no others. */
function isStrict(schema: unknown): boolean {
  if (!isObject(schema) || Object.keys(schema).some((key) => !ENFORCED.has(key))) return false;
  const { type, properties, items, anyOf, $ref, $defs, definitions, format } = schema;
  if (format !== undefined && !FORMATS.includes(format)) return false;
  if ($ref !== undefined && Object.keys(schema).length > 1) return false;
  if ([type, anyOf, $ref].every((part) => part === undefined)) return false;
  const types = listOf(type);
  if ((types.includes('object') || properties !== undefined) && !isClosed(schema)) return false;
  if (types.includes('array') && items === undefined) return false;
  const named = [properties, $defs, definitions].flatMap((each) => Object.values(fieldsOf(each)));
  return [...named, ...listOf(items), ...listOf(anyOf)].every(isStrict);
}

function isClosed({ properties, required, additionalProperties }: Fields): boolean {
  const listed = listOf(required);
  const isListed = (key: string): boolean => listed.includes(key);
  return additionalProperties === false && isObject(properties) && Object.keys(properties).every(isListed);
}
