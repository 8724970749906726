// Reads JSON Schema as a type that any language can print. Unsupported, recursive or too large schemas become `any`.
import { referred } from '../../contracts/json';
import type { JsonSchema } from '../../contracts/tools/tools';

export type Scalar = 'string' | 'integer' | 'number' | 'boolean' | 'null';
export type Literal = string | number | boolean | null;
export interface Field {
  name: string;
  type: ValueType;
  required: boolean;
}
export type ValueType =
  | { kind: 'any' }
  | { kind: 'scalar'; of: Scalar }
  | { kind: 'literal'; values: readonly Literal[] }
  | { kind: 'list'; item: ValueType }
  | { kind: 'map'; value: ValueType }
  | { kind: 'record'; fields: readonly Field[]; open: boolean }
  | { kind: 'union'; of: readonly ValueType[] };

const MAX_DEPTH = 5;
const MAX_LITERALS = 24;
/** Maximum length of a literal's text. */
const MAX_LITERAL = 80;
const MAX_MEMBERS = 12;
const MAX_FIELDS = 100;
const MAX_PARTS = 400;
const ANY: ValueType = { kind: 'any' };
const SCALARS = new Set<unknown>(['string', 'integer', 'number', 'boolean', 'null']);

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The progress of a reading: schemas that refer to themselves grow with every level. */
interface Reading {
  root: JsonSchema;
  depth: number;
  left: { parts: number };
}

/** `root` is the schema into which `$ref` points. */
export const valueType = (schema: unknown, root: JsonSchema): ValueType =>
  read(schema, { root, depth: 0, left: { parts: MAX_PARTS } });

function read(schema: unknown, reading: Reading): ValueType {
  reading.left.parts -= 1;
  if (!isRecord(schema) || reading.depth > MAX_DEPTH || reading.left.parts < 0) return ANY;
  const inside = { ...reading, depth: reading.depth + 1 };
  if (typeof schema.$ref === 'string') return read(referred(schema.$ref, reading.root), inside);
  if ('const' in schema) return literals([schema.const], reading);
  if (Array.isArray(schema.enum)) return literals(schema.enum, reading);
  const members = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(members)) return union(members, inside);
  if (Array.isArray(schema.type))
    return union(
      schema.type.map((type) => ({ ...schema, type: type as unknown })),
      inside,
    );
  if (SCALARS.has(schema.type)) return { kind: 'scalar', of: schema.type as Scalar };
  if (schema.type === 'array') return { kind: 'list', item: read(schema.items, inside) };
  return schema.type === 'object' || isRecord(schema.properties) ? objectType(schema, inside) : ANY;
}

/** The properties of a schema and which of them are required. */
export function propertiesOf(schema: JsonSchema): { name: string; schema: JsonSchema; required: boolean }[] {
  const required = new Set<unknown>(Array.isArray(schema.required) ? schema.required : []);
  if (!isRecord(schema.properties)) return [];
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    schema: isRecord(property) ? property : {},
    required: required.has(name),
  }));
}

function objectType(schema: JsonSchema, inside: Reading): ValueType {
  const properties = propertiesOf(schema);
  const { additionalProperties: rest } = schema;
  if (properties.length === 0 || properties.length > MAX_FIELDS)
    return { kind: 'map', value: read(rest, inside) };
  const fields = properties.map(({ name, required, schema: property }) => ({
    name,
    type: read(property, inside),
    required,
  }));
  return { kind: 'record', fields, open: rest === true || isRecord(rest) };
}

function literals(values: readonly unknown[], { left }: Reading): ValueType {
  left.parts -= values.length;
  const known = values.filter(
    (value): value is Literal => value === null || ['string', 'number', 'boolean'].includes(typeof value),
  );
  const short = values.length <= MAX_LITERALS && known.every((value) => String(value).length <= MAX_LITERAL);
  if (known.length === values.length && known.length > 0 && short && left.parts >= 0)
    return { kind: 'literal', values: known };
  return values.length > 0 && values.every((value) => typeof value === 'string')
    ? { kind: 'scalar', of: 'string' }
    : ANY;
}

function union(schemas: readonly unknown[], inside: Reading): ValueType {
  if (schemas.length === 0 || schemas.length > MAX_MEMBERS) return ANY;
  const members = schemas.map((schema) => read(schema, inside));
  if (members.some(({ kind }) => kind === 'any')) return ANY;
  return members.length === 1 ? (members[0] ?? ANY) : { kind: 'union', of: members };
}
