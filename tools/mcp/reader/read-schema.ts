// A schema as servers write it, as JSON Schema: what PHP made of empty objects, null for keywords that are absent, and the
// schemas `true` and `false`, which other clients of MCP do not know.
import { fieldsOf, isObject, listOf, type Fields } from './fields';

/** Keywords whose values are schemas by name. */
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
/** Keywords whose value is a schema. */
const SCHEMA = ['additionalProperties', 'contains', 'not', 'if', 'then', 'else', 'propertyNames'];
/** Keywords whose value is a list of schemas. */
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
/** Keywords whose value may be null. */
const VALUES = ['const', 'default', 'example'];
const NOTHING = { not: {} };

export function readSchema(given: unknown): Fields {
  if (given === false) return NOTHING;
  if (!isObject(given)) return {};
  return Object.fromEntries(
    Object.entries(given).flatMap(([key, value]): [string, unknown][] => {
      if (value === null && !VALUES.includes(key)) return [];
      if (NAMED.includes(key)) return [[key, namedSchemas(value)]];
      if (SCHEMA.includes(key)) return [[key, typeof value === 'boolean' ? value : readSchema(value)]];
      if (LISTS.includes(key)) return [[key, (listOf(value) ?? []).map(readSchema)]];
      // A list of them, in older drafts, says what each item is.
      if (key === 'items') return [[key, isFilledList(value) ? value.map(readSchema) : readSchema(value)]];
      if (key === 'required' && isObject(value)) return [[key, listOf(value) ?? []]];
      return [[key, value]];
    }),
  );
}

const namedSchemas = (value: unknown): Fields =>
  Object.fromEntries(Object.entries(fieldsOf(value) ?? {}).map(([name, each]) => [name, readSchema(each)]));

const isFilledList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;
