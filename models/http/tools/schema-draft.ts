// A schema of any draft, and with any mistakes, as draft 2020-12, which vendors check it against: they refuse a whole request,
// with all of its other tools, for one keyword. What cannot be said so is described in words or left out: the tool checks its
// arguments against its own schema. Pure.
import { referred } from '../../../contracts/json';
import { isObject } from '../../dialects/json-text';
import { listOf, type Fields } from '../replies/untrusted';

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
/** As other languages call them. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  ...{ int: 'integer', long: 'integer', float: 'number', double: 'number', str: 'string', text: 'string' },
  ...{ bool: 'boolean', dict: 'object', map: 'object', list: 'array', none: 'null' },
};
/** Keywords whose values are schemas by name, a schema, or a list of schemas. */
const NAMED = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
const SCHEMA = ['additionalProperties', 'contains', 'not', 'if', 'then', 'else', 'propertyNames', 'items'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
/** They change what references mean, or name a draft. */
const LEFT_OUT = [
  '$schema',
  '$id',
  'id',
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$recursiveRef',
  '$vocabulary',
];
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'];
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'];
const TEXTS = ['title', 'description', 'format', '$comment', 'pattern', '$ref'];
/** Not every vendor's expressions have them. */
const LOOKS_AROUND = /\(\?<?[=!]|\\[1-9]|\\k</;
/** A server's schema may be nested deeper than a stack is. */
const MAX_DEPTH = 200;

export const inCurrentDraft = (schema: Fields): Fields => fieldsIn(schema, schema, 0);

function schemaIn(given: unknown, root: Fields, depth: number): unknown {
  if (typeof given === 'boolean') return given;
  if (!isObject(given)) return {};
  return depth > MAX_DEPTH ? {} : fieldsIn(given, root, depth);
}

function fieldsIn(given: Fields, root: Fields, depth: number): Fields {
  const within = (each: unknown): unknown => schemaIn(each, root, depth + 1);
  const fields: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(given)) {
    if (LEFT_OUT.includes(key)) continue;
    if (NAMED.includes(key)) {
      if (isObject(value)) fields[key] = named(key, value, within);
    } else if (key === 'items' && Array.isArray(value)) fields.prefixItems = value.map(within);
    else if (SCHEMA.includes(key)) {
      if (isObject(value) || typeof value === 'boolean') fields[key] = within(value);
    } else if (LISTS.includes(key)) {
      if (Array.isArray(value) && value.length > 0) fields[key] = value.map(within);
    } else if (isValid(key, value)) fields[key] = value;
  }
  return inWords(given, withoutNever(typed(bounded(fields, given))), root);
}

function named(key: string, value: Fields, within: (each: unknown) => unknown): Fields {
  const entries = Object.entries(value).filter(([name]) => key !== 'patternProperties' || isExpression(name));
  return Object.fromEntries(entries.map(([name, each]) => [name, within(each)]));
}

function isValid(key: string, value: unknown): boolean {
  if (COUNTS.includes(key)) return Number.isSafeInteger(value) && Number(value) >= 0;
  if (BOUNDS.includes(key)) return Number.isFinite(value) && (key !== 'multipleOf' || Number(value) > 0);
  if (TEXTS.includes(key)) return typeof value === 'string';
  if (['required', 'enum', 'examples'].includes(key)) return Array.isArray(value);
  return key !== 'uniqueItems' || typeof value === 'boolean';
}

/** In draft 4 a limit is exclusive by a truth value beside it; in draft 3 a property is required by one of its own. */
function bounded(fields: Record<string, unknown>, given: Fields): Record<string, unknown> {
  for (const [flag, limit] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (given[flag] !== true || fields[limit] === undefined) continue;
    fields[flag] = fields[limit];
    delete fields[limit];
  }
  const properties = isObject(given.properties) ? Object.entries(given.properties) : [];
  const flagged = properties.filter(([, each]) => isObject(each) && each.required === true);
  const required = [...listOf(fields.required), ...flagged.map(([name]) => name)].filter(
    (name) => typeof name === 'string',
  );
  if (required.length > 0) fields.required = [...new Set(required)];
  else if (fields.required !== undefined && listOf(fields.required).length > 0) delete fields.required;
  return fields;
}

function typed(fields: Record<string, unknown>): Record<string, unknown> {
  if (Array.isArray(fields.enum)) {
    const values = fields.enum.filter((value, at, all) => all.indexOf(value) === at);
    if (values.length > 0) fields.enum = values;
    else delete fields.enum;
  }
  // The same as without it, which every vendor takes.
  const { additionalProperties: more } = fields;
  if (more === true || (isObject(more) && Object.keys(more).length === 0)) delete fields.additionalProperties;
  if (fields.type === undefined) return fields;
  const types = listOf(fields.type).flatMap((type) => {
    const name = typeof type === 'string' ? (TYPE_NAMES[type.toLowerCase()] ?? type.toLowerCase()) : '';
    return TYPES.includes(name) ? [name] : [];
  });
  const known = [...new Set(types)];
  if (known.length === 0) delete fields.type;
  else fields.type = Array.isArray(fields.type) ? known : known[0];
  return fields;
}

/** An alternative that nothing matches is how some libraries write that an argument is optional. */
function withoutNever(fields: Record<string, unknown>): Record<string, unknown> {
  const { anyOf } = fields;
  if (!Array.isArray(anyOf)) return fields;
  const possible = listOf(anyOf).filter((each) => !isNever(each));
  const [only, ...others] = possible;
  if (possible.length === anyOf.length || possible.length === 0) return fields;
  if (others.length > 0) return { ...fields, anyOf: possible };
  const rest = Object.fromEntries(Object.entries(fields).filter(([key]) => key !== 'anyOf'));
  return isObject(only) ? { ...only, ...rest } : rest;
}

const isNever = (schema: unknown): boolean =>
  schema === false || (isObject(schema) && isObject(schema.not) && Object.keys(schema.not).length === 0);

/** Without references to nothing, and expressions that not every vendor has: these are described in words. */
function inWords(given: Fields, fields: Fields, root: Fields): Fields {
  const { $ref, pattern } = given;
  const isLost = typeof $ref === 'string' && !isThere($ref, root);
  const isForeign = typeof pattern === 'string' && !isExpression(pattern);
  if (!isLost && !isForeign) return fields;
  const left = [...(isLost ? ['$ref'] : []), ...(isForeign ? ['pattern'] : [])];
  const rest = Object.fromEntries(Object.entries(fields).filter(([key]) => !left.includes(key)));
  if (!isForeign) return rest;
  const words = [rest.description, `It matches ${pattern}`].filter((each) => typeof each === 'string');
  return { ...rest, description: words.join('\n') };
}

const isThere = (reference: string, root: Fields): boolean =>
  reference === '#' || isObject(referred(reference, root));

function isExpression(source: string): boolean {
  if (LOOKS_AROUND.test(source)) return false;
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
