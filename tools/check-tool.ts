// Whether a custom tool can be offered. Such tools may come from modules that no compiler has checked.
import { HoldfastError } from '../contracts/errors/holdfast-error';
import { LONGEST_WAIT_MS } from '../contracts/sessions/session';
import { asJson } from '../contracts/text/as-json';
import { ARGUMENT_ROLES, CODE_LANGUAGES } from '../contracts/tools/call-facts';
import { EFFECTS, TOOL_NAME, type JsonSchema } from '../contracts/tools/tools';
import { parametersOf, resultOf } from './describe-tool';
import type { Tool } from './tool';

/** The tools. Throws `invalid_input` for what is no list. */
export function checkedTools(own: readonly Tool[]): readonly Tool[] {
  const isList: boolean = Array.isArray(own);
  if (isList) return own;
  throw new HoldfastError('invalid_input', {
    what: 'The option `tools`',
    got: asJson(own),
    allowed: 'a list of tools, each made with `defineTool`',
  });
}

/** Throws `tool_invalid` with every fault. */
export function checkTool(tool: Partial<Tool> | null | undefined): void {
  const allowed: Record<string, boolean> = {
    'name: 1 to 64 of a-z, A-Z, 0-9, "_" and "-"':
      typeof tool?.name === 'string' && TOOL_NAME.test(tool.name),
    'description: a text': typeof tool?.description === 'string' && tool.description.trim() !== '',
    'args: a schema of zod 4': isZod(tool?.args),
    'args: a schema of an object': !isZod(tool?.args) || takesObject(tool),
    'result: a schema of zod 4, or { jsonSchema }': tool?.result === undefined || isResult(tool.result),
    [`effects: ${EFFECTS.join(', ')}`]: (EFFECTS as readonly unknown[]).includes(tool?.effects),
    'runsOn: host or anywhere': ['host', 'anywhere', undefined].includes(tool?.runsOn),
    [`argumentRoles: an argument's name for any of ${ARGUMENT_ROLES.join(', ')}`]:
      tool?.argumentRoles === undefined || areRoles(tool.argumentRoles),
    [`codeLanguage: ${CODE_LANGUAGES.join(', ')}`]: [...CODE_LANGUAGES, undefined].includes(
      tool?.codeLanguage,
    ),
    'session: a function': isFunctionOrAbsent(tool?.session),
    'forPerson: a function': isFunctionOrAbsent(tool?.forPerson),
    'text: a function': isFunctionOrAbsent(tool?.text),
    'commandLine: a function': isFunctionOrAbsent(tool?.commandLine),
    [`timeoutMs: a whole number from 1 to ${LONGEST_WAIT_MS}`]:
      tool?.timeoutMs === undefined || isTimeout(tool.timeoutMs),
    'run: a function': typeof tool?.run === 'function',
  };
  const faults = Object.keys(allowed).filter((what) => !allowed[what]);
  if (faults.length > 0)
    throw new HoldfastError('tool_invalid', { got: nameOf(tool), allowed: faults.join('; ') });
}

/** What was given, where it has no name. */
const nameOf = (tool: Partial<Tool> | null | undefined): string =>
  typeof tool?.name === 'string' ? tool.name : asJson(tool);

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isZod = (schema: unknown): boolean => isObject(schema) && '_zod' in schema;

function isResult(schema: Tool['result']): boolean {
  if (isObject(schema) && 'jsonSchema' in schema) return isObject(schema.jsonSchema);
  return isZod(schema) && isDescribed(() => resultOf({ result: schema }));
}

/** Models and scripts pass arguments by name. */
const takesObject = (tool: Partial<Tool> | null | undefined): boolean =>
  isDescribed(() => tool?.args && parametersOf({ ...tool, args: tool.args }), mayBeObject);

function isDescribed(schema: () => JsonSchema | undefined, holds: typeof mayBeObject = () => true): boolean {
  try {
    return holds(schema());
  } catch {
    return false;
  }
}

/** False only if it is certain: what a schema's functions accept is not known. */
function mayBeObject(schema: unknown): boolean {
  if (!isObject(schema)) return true;
  const { type, anyOf, oneOf, allOf } = schema as Record<string, unknown>;
  if (type !== undefined) return type === 'object' || (Array.isArray(type) && type.includes('object'));
  const alternatives = [anyOf, oneOf].find((some) => Array.isArray(some)) as unknown[] | undefined;
  if (alternatives) return alternatives.some(mayBeObject);
  return !Array.isArray(allOf) || allOf.every(mayBeObject);
}

const isTimeout = (ms: unknown): boolean =>
  typeof ms === 'number' && Number.isInteger(ms) && ms >= 1 && ms <= LONGEST_WAIT_MS;

const areRoles = (roles: unknown): boolean =>
  typeof roles === 'object' &&
  roles !== null &&
  Object.entries(roles).every(
    ([role, name]) =>
      (ARGUMENT_ROLES as readonly string[]).includes(role) && ['string', 'undefined'].includes(typeof name),
  );

const isFunctionOrAbsent = (value: unknown): boolean => ['function', 'undefined'].includes(typeof value);
