// The OpenAI SDK for one call. Everything that it would otherwise read from the environment is set here.
import type OpenAI from 'openai';
import type { JsonSchema } from '../../contracts/tools/tools';
import { isObject } from '../dialects/json-text';
import type { WireCall } from './http-provider';
import { fieldsOf, listOf, type Fields } from './replies/untrusted';

export async function openaiClient({ access, fetch, requestMs }: WireCall): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai');
  const { key, baseUrl, headers } = access;
  return new Client({
    // The SDK always requires one.
    apiKey: key ?? 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: baseUrl ?? 'https://api.openai.com/v1',
    defaultHeaders: { ...(key === null && { Authorization: null }), ...headers },
    fetch,
    timeout: requestMs,
    maxRetries: 0,
    // It logs bodies at level `debug`, which an environment variable could switch on.
    logLevel: 'off',
  });
}

/** Whether it is the vendor's own server: a compatible one may refuse unknown fields. */
export const isVendors = ({ access }: Pick<WireCall, 'access'>): boolean =>
  access.baseUrl === null || /^https:\/\/([a-z0-9-]+\.)*openai\.com(\/|$)/.test(access.baseUrl);

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

/** Of a server that does not take a schema. Others refuse a reply that went wrong with the same status. */
const NAMES_SCHEMA = /response_format|text\.format|schema/i;
/** A schema may be large. */
const MAX_REFUSED = 100;

/**
 * Asks with the schema of an answer, if there is one, and once more without it if the server refuses the request: not
 * every server takes every schema. The instructions have it, too, and the answer is checked.
 */
export async function withAnswerFormat<T>(
  call: WireCall,
  ask: (format: AnswerFormat | undefined) => Promise<T>,
): Promise<T> {
  const format = answerFormat(call);
  const key = format && `${call.name} ${JSON.stringify(format.schema)}`;
  if (key === undefined || call.refusedSchemas.has(key)) return ask(undefined);
  try {
    return await ask(format);
  } catch (err) {
    if (!refusesRequest(err)) throw err;
    const answer = await ask(undefined);
    if (NAMES_SCHEMA.test(err.message) && call.refusedSchemas.size < MAX_REFUSED)
      call.refusedSchemas.add(key);
    return answer;
  }
}

/**
 * The server does not take the request as it stands: the model has not begun. An error that is reported in an answer has no
 * status of its own.
 */
const refusesRequest = (err: unknown): err is Error =>
  err instanceof Error && 'status' in err && [400, 422].includes(Number(err.status));

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
