// The page of one tool: its arguments and result, and how a script calls it.
import { inertLine } from '../../contracts/text/inert';
import type { ToolDescription } from '../../contracts/tools/tools';

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  default?: unknown;
  description?: string;
}

const EFFECTS = {
  read_only: 'it may be called again freely',
  idempotent: 'a second call with the same key has no further effect',
  once: 'never run twice; if it is unknown whether it took effect, the caller is told',
} as const;

export function describeTool(tool: ToolDescription): string {
  const { name, description, effects, runsOn, result } = tool;
  const { properties = {}, required = [] } = tool.parameters as Schema;
  const names = Object.keys(properties);
  return [
    name,
    '',
    // Indented: none of its lines looks like one of ours.
    ...description
      .trim()
      .split('\n')
      .map((line) => `  ${line}`),
    '',
    `effects  ${effects}: ${EFFECTS[effects]}`,
    `runs on  ${runsOn === 'host' ? 'the host of the agent’s shells' : 'anywhere'}`,
    '',
    names.length > 0 ? 'arguments' : 'no arguments',
    ...names.map((key) => argument(key, properties[key] ?? {}, required.includes(key))),
    '',
    `result   ${result ? typeName(result) : 'text'}`,
    ...(result ? fields(result) : []),
    '',
    'from a script',
    ...calls(
      name,
      names.filter((key) => required.includes(key)),
      properties,
    ).map((line) => `  ${line}`),
    '',
  ]
    .map(inertLine)
    .join('\n');
}

function argument(name: string, schema: Schema, isRequired: boolean): string {
  const { default: usual, description } = schema;
  const when =
    isRequired && usual === undefined
      ? 'required'
      : usual === undefined
        ? 'optional'
        : `default ${JSON.stringify(usual)}`;
  const what = description ? `: ${description.replace(/\s+/g, ' ')}` : '';
  return `  ${name}  ${typeName(schema)}, ${when}${what}`;
}

const fields = ({ properties = {}, required = [] }: Schema): string[] =>
  Object.entries(properties).map(([name, schema]) => argument(name, schema, required.includes(name)));

function typeName(schema: Schema): string {
  const { type, enum: values, const: value, items, anyOf, oneOf } = schema;
  if (values) return values.map((one) => JSON.stringify(one)).join(' | ');
  if (value !== undefined) return JSON.stringify(value);
  const some = anyOf ?? oneOf;
  if (some) return some.map(typeName).join(' | ');
  if (type === 'array') return `list of ${items ? typeName(items) : 'anything'}`;
  if (Array.isArray(type)) return type.join(' | ');
  return type ?? 'anything';
}

/** With the required arguments. */
function calls(name: string, required: string[], properties: Record<string, Schema>): string[] {
  const identifier = name.replaceAll('-', '_');
  const sample = (key: string): string => JSON.stringify(sampleOf(properties[key] ?? {}));
  const python = required.map((key) => `${key}=${sample(key)}`).join(', ');
  const node = required.map((key) => `${key}: ${sample(key)}`).join(', ');
  const shell = required.map((key) => ` --${key} ${shellWord(sampleOf(properties[key] ?? {}))}`).join('');
  return [
    `python  codex_tools.${identifier}(${python})`,
    `node    await require('codex-tools').${identifier}(${node && `{ ${node} }`})`,
    `shell   tool ${name}${shell}`,
  ];
}

const SAMPLES: Record<string, unknown> = { integer: 1, number: 1, boolean: true, array: [], object: {} };

function sampleOf({ type, enum: values, default: usual }: Schema): unknown {
  if (usual !== undefined) return usual;
  if (values) return values[0];
  const first = Array.isArray(type) ? type[0] : type;
  return SAMPLES[first ?? 'string'] ?? '…';
}

const shellWord = (value: unknown): string =>
  typeof value === 'string'
    ? `'${value}'`
    : value instanceof Object
      ? `'${JSON.stringify(value)}'`
      : JSON.stringify(value);
