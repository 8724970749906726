// Reads the words after `tool NAME` as arguments, by the types of the tool's schema.
'use strict';
const { readFileSync, readSync } = require('node:fs');

/** The command line is invalid; nothing was called. */
class UsageError extends Error {}

/** Unions that refer to themselves grow with every level: beyond this, anything fits. */
const MAX_NESTING = 3;
const MAX_MEMBERS = 40;
const SWITCHES = new Set(['help', 'raw-json']);

/** Follows a local reference; an unknown schema accepts anything. */
function resolved(schema, root, depth = 0) {
  if (typeof schema !== 'object' || schema === null) return {};
  if (typeof schema.$ref !== 'string' || depth > 8) return schema;
  const keys = schema.$ref.split('/').slice(1);
  const found = keys.reduce((at, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return at && Object.hasOwn(at, name) ? at[name] : undefined;
  }, root);
  return resolved(found, root, depth + 1);
}

/** The alternative schemas for a value, one of which must match. */
function alternatives(schema, root, depth = 0) {
  const known = resolved(schema, root);
  const members = known.anyOf ?? known.oneOf;
  if (depth > MAX_NESTING || (Array.isArray(members) && members.length > MAX_MEMBERS)) return [{}];
  if (Array.isArray(members)) return members.flatMap((member) => alternatives(member, root, depth + 1));
  if (Array.isArray(known.type)) return known.type.map((type) => ({ ...known, type }));
  return [known];
}

/** Whether it is a whole number that would become another one, as numbers are doubles. */
const isRounded = (text) => /^\s*[+-]?\d{16,}\s*$/.test(text) && BigInt(text.replace(/[+-]/, '')) > 2n ** 53n;

/** Node before 21 does not say what was written. */
function exact(_key, value, written) {
  if (typeof value === 'number' && isRounded(written?.source ?? '')) throw new RangeError('beyond 2**53');
  return value;
}

function json(text) {
  try {
    return { value: JSON.parse(text, /\d{16}/.test(text) ? exact : undefined) };
  } catch (err) {
    return { isRounded: err instanceof RangeError };
  }
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** `{ value }` if the text is valid for a schema without alternatives, otherwise `{}`. */
function fitting(text, schema, root) {
  const choices = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : undefined;
  if (choices) {
    const value = choices.find(
      (choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice)) === text,
    );
    return value === undefined ? {} : { value };
  }
  if (schema.type === 'string') return { value: text };
  const read = json(text);
  if (schema.type === undefined) return 'value' in read || read.isRounded ? read : { value: text };
  const fits = {
    integer: () => /^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)),
    number: () => text.trim() !== '' && Number.isFinite(Number(text)) && !isRounded(text),
    boolean: () => text === 'true' || text === 'false',
    null: () => text === 'null',
    object: () => isObject(read.value),
    array: () => Array.isArray(read.value) && itemsFit(read.value, schema, root),
  }[schema.type];
  if (!fits?.()) return {};
  return { value: schema.type === 'integer' || schema.type === 'number' ? Number(text) : read.value };
}

/** For a list of strings, other items do not fit: the text may be a single string that looks like a list. */
const itemsFit = (items, schema, root) =>
  !alternatives(schema.items, root).every(({ type }) => type === 'string') ||
  items.every((item) => typeof item === 'string');

/** Tries the narrow types first: any text is a string. */
function parsed(name, text, schema, root) {
  const kinds = alternatives(schema, root);
  const ordered = [
    ...kinds.filter(({ type }) => type !== 'string'),
    ...kinds.filter(({ type }) => type === 'string'),
  ];
  for (const kind of ordered) {
    const result = fitting(text, kind, root);
    if ('value' in result) return result.value;
  }
  for (const kind of kinds.filter(({ type }) => type === 'array'))
    return [parsed(name, text, kind.items ?? {}, root)];
  throw new UsageError(
    `--${name} is invalid: got ${text.slice(0, 200)}, allowed ${describe(schema, root)}${ofNumbers(text)}`,
  );
}

const ofNumbers = (text) =>
  /\d{16}/.test(text) ? '; whole numbers only up to 2**53: pass larger ones as text' : '';

/** The type of an argument in a word or two. */
function describe(schema, root, depth = 0) {
  const words = alternatives(schema, root).map((kind) => {
    if (Array.isArray(kind.enum))
      return kind.enum
        .slice(0, 24)
        .map((value) => `${value}`)
        .join('|');
    if ('const' in kind) return `${kind.const}`;
    if (kind.type === 'array')
      return `list of ${depth > 3 ? 'anything' : describe(kind.items, root, depth + 1)}`;
    return typeof kind.type === 'string' ? kind.type : 'anything';
  });
  return [...new Set(words)].join(' or ');
}

/** Standard input or a file, as text. Standard input can be read once. */
function source(state, path) {
  if (path === '-') {
    if (state.stdinRead)
      throw new UsageError('standard input can only be read once: got two options with "-"');
    state.stdinRead = true;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      path === '-' ? readStdin() : readFileSync(path),
    );
  } catch (err) {
    throw new UsageError(`cannot read ${path === '-' ? 'standard input' : path}: ${err.message}`);
  }
}

/** Reads everything; on a non-blocking pipe without data yet, tries again. */
function readStdin() {
  const chunks = [];
  for (;;) {
    const chunk = Buffer.alloc(65_536);
    try {
      const length = readSync(0, chunk);
      if (length === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, length));
    } catch (err) {
      if (err.code === 'EOF') return Buffer.concat(chunks);
      if (err.code !== 'EAGAIN') throw err;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

/** The argument for an option: by its own name, or with "-" for "_". */
function argumentOf(properties, name) {
  if (properties.has(name)) return name;
  const spelt = [...properties.keys()].filter(
    (own) => own.replaceAll('_', '-') === name.replaceAll('_', '-'),
  );
  return spelt.length === 1 ? spelt[0] : undefined;
}

/** Reads the words. Returns the arguments and the switches; throws UsageError. */
function readOptions(tool, words) {
  const root = tool.parameters;
  const properties = new Map(Object.entries(isObject(root.properties) ? root.properties : {}));
  const state = { switches: {}, whole: [], args: new Map(), root, properties, rest: [...words] };
  while (state.rest.length > 0) readOption(state, state.rest.shift());
  const args = Object.fromEntries([...state.whole, ...state.args]);
  const required = Array.isArray(root.required) ? root.required : [];
  const missing = required.filter((name) => !Object.hasOwn(args, name));
  if (missing.length > 0 && !state.switches.help)
    throw new UsageError(`${missing.map((name) => `--${name}`).join(', ')} is required`);
  return { args, switches: state.switches };
}

function readOption(state, word) {
  if (word === '-h') return void (state.switches.help = true);
  if (!word.startsWith('--') || word === '--')
    throw new UsageError(`arguments are named: got ${word}, allowed --NAME VALUE`);
  const equals = word.indexOf('=');
  const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
  const next = () => {
    if (equals >= 0) return word.slice(equals + 1);
    if (state.rest.length === 0) throw new UsageError(`--${name} needs a value`);
    return state.rest.shift();
  };
  if (SWITCHES.has(name) && equals < 0) return void (state.switches[name] = true);
  if (name === 'json') return void readWhole(state, next());
  const argument = argumentOf(state.properties, name);
  if (argument !== undefined) return readArgument(state, argument, { next, hasValue: equals >= 0 });
  const negated = name.startsWith('no-') ? argumentOf(state.properties, name.slice(3)) : undefined;
  if (negated !== undefined && equals < 0 && isSwitch(state, negated))
    return void state.args.set(negated, false);
  const from = name.endsWith('-from') ? argumentOf(state.properties, name.slice(0, -5)) : undefined;
  if (from !== undefined) return add(state, from, source(state, next()));
  const allowed = [...state.properties.keys()].map((own) => `--${own}`).join(', ');
  throw new UsageError(
    `unknown option: got --${name}, allowed ${allowed || 'none'}, --json, --raw-json, --help`,
  );
}

const isSwitch = ({ properties, root }, name) =>
  alternatives(properties.get(name), root).some(({ type }) => type === 'boolean');

function readArgument(state, argument, { next, hasValue }) {
  const words = ['true', 'false', 'null'];
  const onlySwitch = isSwitch(state, argument) && !hasValue;
  // Only a value can follow a switch: arguments are always named.
  if (
    onlySwitch &&
    (state.rest[0] === undefined || (state.rest[0].startsWith('--') && !words.includes(state.rest[0])))
  )
    return void state.args.set(argument, true);
  return add(state, argument, next());
}

/** A repeated argument makes a list, if one is allowed. */
function add(state, argument, text) {
  const schema = state.properties.get(argument);
  const lists = alternatives(schema, state.root).filter(({ type }) => type === 'array');
  const before = state.args.get(argument);
  if (before === undefined) return void state.args.set(argument, parsed(argument, text, schema, state.root));
  if (lists.length === 0) throw new UsageError(`--${argument} was given twice`);
  const item = parsed(argument, text, lists[0].items ?? {}, state.root);
  state.args.set(argument, [...(Array.isArray(before) ? before : [before]), item]);
}

function readWhole(state, given) {
  const text = given === '-' ? source(state, '-') : given;
  const { value } = json(text);
  if (!isObject(value))
    throw new UsageError(
      `--json is invalid: allowed one JSON object, or - to read it from standard input${ofNumbers(text)}`,
    );
  state.whole.push(...Object.entries(value));
}

module.exports = { UsageError, argumentOf, describe, readOptions };
