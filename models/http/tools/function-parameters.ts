// The parameters of a tool as the vendors' function calling takes them. They refuse a whole request, with all of its other
// tools, for one schema without `properties`, with a choice at its root, or with a list whose items are not described.
// Nothing is lost by saying less: the tool checks its arguments against its own schema. Pure.
import { referred } from '../../../contracts/json';
import type { JsonSchema } from '../../../contracts/tools/tools';
import { isObject } from '../../dialects/json-text';
import { fieldsOf, listOf, type Fields } from '../replies/untrusted';

const NOT_AT_ROOT = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', 'then', 'else'];
/** Keywords whose values are schemas by name. */
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions'];
/** Keywords whose values are a schema or a list of schemas. */
const NESTED = ['items', 'prefixItems', 'additionalProperties', 'anyOf', 'oneOf', 'allOf'];
/** A server's schema may be nested deeper than a stack is. */
const MAX_DEPTH = 200;

/** Of an object with `properties`, and without a choice at its root: its alternatives are described in words. */
export function functionParameters(parameters: JsonSchema): Record<string, unknown> & { type: 'object' } {
  const schema = fieldsOf(withItems(parameters));
  const rest = Object.fromEntries(Object.entries(schema).filter(([key]) => !NOT_AT_ROOT.includes(key)));
  const { properties, required } = argumentsOf(schema, schema, new Set());
  const choice = schema.anyOf ?? schema.oneOf;
  const words = [schema.description, choice && `One of: ${JSON.stringify(choice)}`];
  const description = words.filter((some) => typeof some === 'string').join('\n');
  return {
    ...rest,
    ...(description !== '' && { description }),
    type: 'object',
    properties: Object.fromEntries(
      [...properties].map(([name, [first, ...others]]) => [
        name,
        others.length > 0 ? { anyOf: [first, ...others] } : first,
      ]),
    ),
    ...(required.length > 0 && { required }),
  };
}

interface Arguments {
  /** Those of different alternatives may have the same name. */
  properties: Map<string, unknown[]>;
  required: string[];
}

/** @param seen references that were followed: a schema may refer to itself */
function argumentsOf(given: unknown, root: Fields, seen: Set<string>): Arguments {
  const schema = fieldsOf(given);
  const found: Arguments = { properties: new Map(), required: [] };
  const add = (name: string, value: unknown): void => {
    const known = found.properties.get(name) ?? [];
    const isKnown = known.some((each) => JSON.stringify(each) === JSON.stringify(value));
    found.properties.set(name, isKnown ? known : [...known, value]);
  };
  const addAll = (part: unknown, isRequired: boolean): void => {
    const { properties, required } = argumentsOf(part, root, seen);
    for (const [name, values] of properties) for (const value of values) add(name, value);
    if (isRequired) found.required.push(...required);
  };
  for (const [name, value] of Object.entries(fieldsOf(schema.properties))) add(name, value);
  found.required.push(...listOf(schema.required).filter((name) => typeof name === 'string'));
  const { $ref } = schema;
  if (typeof $ref === 'string' && !seen.has($ref)) {
    seen.add($ref);
    addAll(referred($ref, root), true);
  }
  for (const part of listOf(schema.allOf)) addAll(part, true);
  for (const part of [...listOf(schema.anyOf), ...listOf(schema.oneOf)]) addAll(part, false);
  return { ...found, required: [...new Set(found.required)] };
}

/** Every list says what its items are, be it anything. */
function withItems(schema: unknown, depth = 0): unknown {
  const within = (each: unknown): unknown => withItems(each, depth + 1);
  if (Array.isArray(schema)) return schema.map(within);
  if (!isObject(schema) || depth > MAX_DEPTH) return schema;
  const isList = listOf(schema.type).includes('array');
  return {
    ...Object.fromEntries(
      Object.entries(schema).map(([key, value]) => {
        if (NAMED.includes(key) && isObject(value))
          return [key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, within(each)]))];
        return [key, NESTED.includes(key) ? within(value) : value];
      }),
    ),
    ...(isList && !isObject(schema.items) && { items: {} }),
  };
}
