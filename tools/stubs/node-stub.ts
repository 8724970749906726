// Generates what Node cannot determine by itself: the named exports of the ES module, and the types of all functions.
import type { ToolDescription } from '../../contracts/tools/tools';
import { functionNameIn } from './function-names';
import { plainText, quoted } from './plain-text';
import { EFFECTS, isTextResult, resultType, takesOtherArguments, toolArguments } from './tool-arguments';
import { typescriptType } from './typescript-types';

const MAX_DESCRIPTION = 8_000;

/** index.mjs: a named export for each tool known now, and the live object as the default. */
export const nodeModule = (tools: readonly ToolDescription[]): string =>
  [
    "import _tools from './index.cjs';",
    "import _runtime from './runtime.cjs';\n",
    'export default _tools;',
    'export const ToolError = _runtime.ToolError;',
    'export const { call, tools } = _tools;',
    ...tools.map((tool) => {
      const name = functionNameIn('javascript', tool.name);
      return `export const ${name} = _runtime.stub(${quoted(name)}, ${quoted(tool.name)}, ${isTextResult(tool)});`;
    }),
    '',
  ].join('\n');

/** index.d.ts: what a script may pass and what it gets. */
export function nodeTypes(tools: readonly ToolDescription[], head: string): string {
  const names = tools.map((tool) => functionNameIn('javascript', tool.name));
  return [
    comment(head, ''),
    '/** Why a call failed. */',
    'export declare class ToolError extends Error {',
    '  readonly code: string;',
    '  /** Whether the same call may succeed later. */',
    '  readonly retryable: boolean;',
    '  readonly callId: string | null;',
    '  constructor(code: string, message: string, retryable?: boolean, callId?: string | null);',
    '}\n',
    'export interface CallOptions {',
    '  /** Cancels the call. */',
    '  signal?: AbortSignal;',
    '}\n',
    '/** Calls a tool by name, also one that was added later. */',
    'export declare function call(name: string, args?: Record<string, unknown>, options?: CallOptions): Promise<any>;',
    '/** The names of the current tools. */',
    'export declare function tools(): string[];\n',
    ...tools.map(nodeFunction),
    'interface Tools {',
    '  ToolError: typeof ToolError;',
    '  call: typeof call;',
    '  tools: typeof tools;',
    ...names.map((name) => `  ${name}: typeof ${name};`),
    '  /** Tools that were added later. */',
    '  [name: string]: any;',
    '}',
    'declare const _tools: Tools;',
    'export default _tools;\n',
  ].join('\n');
}

function nodeFunction(tool: ToolDescription): string {
  const args = toolArguments(tool);
  const fields = args.flatMap(({ name, type, required, description, schema }) => [
    ...comments([description, ...defaultText(required, schema)], '  '),
    `  ${quoted(name)}${required ? '' : '?'}: ${typescriptType(type)};`,
  ]);
  if (takesOtherArguments(tool)) fields.push('  [key: string]: any;');
  const optional = args.some(({ required }) => required) ? '' : '?';
  const type = fields.length > 0 ? `{\n${fields.join('\n')}\n}` : '{ [key: string]: never }';
  return [
    comment(`${plainText(tool.description, MAX_DESCRIPTION)}\n\n${EFFECTS[tool.effects]}`, ''),
    `export declare function ${functionNameIn('javascript', tool.name)}(args${optional}: ${type}, ` +
      `options?: CallOptions): Promise<${typescriptType(resultType(tool))}>;\n`,
  ].join('\n');
}

const MAX_DEFAULT = 200;

function defaultText(required: boolean, schema: ToolDescription['parameters']): string[] {
  const text =
    !required && 'default' in schema ? quoted(JSON.stringify(schema.default) ?? '').slice(1, -1) : '';
  return text === '' || text.length > MAX_DEFAULT ? [] : [`Default: ${JSON.stringify(schema.default)}`];
}

const comments = (texts: readonly string[], indent: string): string[] => {
  const text = texts.filter((part) => part !== '').join('\n');
  return text === '' ? [] : [comment(text, indent)];
};

/** A comment around any text: nothing in the text can end it. */
const comment = (text: string, indent: string): string =>
  `${indent}/**\n${plainText(text, Infinity)
    .replaceAll('*/', '*\\/')
    .split('\n')
    .map((line) => `${indent} * ${line}`)
    .join('\n')}\n${indent} */`;
