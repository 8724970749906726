// Arguments that are null where the tool does not take null, and need not be given: some models write null for what they leave
// out. Pure.
import { referred } from '../contracts/json';
import type { JsonSchema } from '../contracts/tools/tools';

const MAX_DEPTH = 64;

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

/**
 * The same without them.
 * @param isRefused also without those of which the schema does not say what they may be
 */
export const withoutNulls = (args: unknown, schema: JsonSchema, isRefused = false): unknown =>
  valueOf(args, schema, { schema, isRefused }, 0);

interface Root {
  schema: JsonSchema;
  isRefused: boolean;
}

function valueOf(value: unknown, given: unknown, root: Root, depth: number): unknown {
  const schema = resolved(given, root);
  if (!schema || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((each) => valueOf(each, schema.items, root, depth + 1));
  if (!isObject(value) || !isObject(schema.properties)) return value;
  const { properties } = schema;
  const entries = Object.entries(value).flatMap(([name, each]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (each !== null) return [[name, valueOf(each, own, root, depth + 1)]];
    const isNeeded = own === undefined || listOf(schema.required).includes(name);
    return isNeeded || takesNull(own, root, 0) ? [[name, each]] : [];
  });
  return Object.fromEntries(entries) as JsonSchema;
}

function resolved(given: unknown, root: Root): JsonSchema | undefined {
  if (!isObject(given)) return undefined;
  const target = typeof given.$ref === 'string' ? referred(given.$ref, root.schema) : given;
  return isObject(target) ? target : undefined;
}

/** What a schema's functions accept is not known. */
function takesNull(given: unknown, root: Root, depth: number): boolean {
  const schema = resolved(given, root);
  if (!schema || depth > MAX_DEPTH) return !root.isRefused;
  const within = (each: unknown): boolean => takesNull(each, root, depth + 1);
  const { type, anyOf, oneOf, allOf } = schema;
  if (schema.nullable === true) return true;
  if ('const' in schema) return schema.const === null;
  if (Array.isArray(schema.enum)) return schema.enum.includes(null);
  if (type !== undefined) return type === 'null' || listOf(type).includes('null');
  const choice = listOf(anyOf ?? oneOf);
  if (choice.length > 0) return choice.some(within);
  const all = listOf(allOf);
  return all.length > 0 ? all.every(within) : !root.isRefused;
}
