// Generates codex_tools.py: a function with signature and docstring for each tool. assets/_codex_tools.py makes the
// calls. Every text from a schema goes through `quoted` or `plainText`.
import type { ToolDescription } from '../../contracts/tools/tools';
import { functionNameIn, parameterNames } from './function-names';
import { plainText, quoted } from './plain-text';
import { pythonLiteral, pythonType } from './python-types';
import {
  EFFECTS,
  isTextResult,
  resultType,
  takesOtherArguments,
  toolArguments,
  type ToolArgument,
} from './tool-arguments';
import { typescriptType } from './typescript-types';

const MAX_DESCRIPTION = 8_000;
const MAX_SHAPE = 1_000;
const INDENT = '    ';

/** The source of the module; `head` is its docstring. */
export function pythonStub(tools: readonly ToolDescription[], head: string): string {
  const functions = tools.map(pythonFunction);
  return [
    docstring(head, ''),
    'from __future__ import annotations\n',
    'import _codex_tools as _runtime',
    'from _codex_tools import ToolError\n',
    'TYPE_CHECKING = False',
    'if TYPE_CHECKING:',
    `${INDENT}from typing import Any, Literal\n`,
    '# Function -> its tool, whether it returns a text, and the arguments that had to be renamed.',
    `_stubs = _runtime.Stubs(__name__, {${functions.map(({ entry }) => `\n${INDENT}${entry},`).join('')}\n})`,
    '_run = _stubs.run',
    '_locals = locals',
    'del annotations',
    ...functions.map(({ source }) => `\n\n${source}`),
    `\n\n__all__ = [${functions.map(({ name }) => quoted(name)).join(', ')}]`,
    'aio = _stubs.aio',
    'call = _stubs.call',
    'tools = _stubs.tools',
    '__getattr__ = _stubs.late',
    '__dir__ = _stubs.names',
    '_stubs.publish()\n',
  ].join('\n');
}

interface PythonFunction {
  name: string;
  source: string;
  /** Its line in the table of functions. */
  entry: string;
}

function pythonFunction(tool: ToolDescription): PythonFunction {
  const name = functionNameIn('python', tool.name);
  const args = toolArguments(tool);
  const parameters = parameterNames(args.map((arg) => arg.name));
  const renamed = args.filter((arg) => parameters.get(arg.name) !== arg.name);
  const rest = renamed.length > 0 || takesOtherArguments(tool) ? restName([...parameters.values()]) : null;
  const result = pythonType(resultType(tool));
  // A renamed argument may also be passed under its own name; then the parameter is left out.
  const isMandatory = (arg: ToolArgument): boolean => arg.required && !renamed.includes(arg);
  const signature = [
    ...args.filter(isMandatory).map((arg) => `${parameters.get(arg.name)}: ${pythonType(arg.type)}`),
    ...args
      .filter((arg) => !isMandatory(arg))
      .map((arg) => `${parameters.get(arg.name)}: ${pythonType(arg.type)} = ${defaultOf(arg)}`),
    ...(rest ? [`**${rest}: Any`] : []),
  ].join(', ');
  const table = renamed.map(
    (arg) =>
      `${quoted(parameters.get(arg.name) ?? '')}: (${quoted(arg.name)}, ${arg.required ? 'True' : 'False'})`,
  );
  const text = isTextResult(tool) ? 'True' : 'False';
  return {
    name,
    entry: `${quoted(name)}: (${quoted(tool.name)}, ${text}, {${table.join(', ')}}, ${rest ? quoted(rest) : 'None'})`,
    source: [
      `def ${name}(${signature}) -> ${result}:`,
      docstring(documentation(tool, args, parameters), INDENT),
      `${INDENT}return _run(${quoted(name)}, _locals())`,
    ].join('\n'),
  };
}

const restName = (taken: readonly string[]): string => {
  let name = 'arguments';
  while (taken.includes(name)) name += '_';
  return name;
};

/** `...` means "left out", as in type stubs. */
const defaultOf = ({ required, schema }: ToolArgument): string =>
  (!required && 'default' in schema ? pythonLiteral(schema.default) : null) ?? '...';

function documentation(
  tool: ToolDescription,
  args: readonly ToolArgument[],
  parameters: ReadonlyMap<string, string>,
): string {
  const lines = args.map((arg) => {
    const parameter = parameters.get(arg.name) ?? '';
    const own = parameter === arg.name ? '' : ` The tool calls it ${JSON.stringify(arg.name)}.`;
    const about = `${arg.description}${own}${shapeOf(arg.type)}`.trim();
    const optional = arg.required ? '' : ', optional';
    return `${INDENT}${parameter} (${pythonType(arg.type)}${optional}):${indented(about)}`;
  });
  return [
    plainText(tool.description, MAX_DESCRIPTION),
    ...(lines.length > 0 ? [`Args:\n${lines.join('\n')}`] : []),
    `Returns:\n${INDENT}${pythonType(resultType(tool))}${shapeOf(resultType(tool))}`,
    `Raises:\n${INDENT}ToolError: the call failed; it has code, message, retryable and call_id.`,
    EFFECTS[tool.effects],
  ].join('\n\n');
}

/** The fields of an object, which a Python type does not name. */
function shapeOf(type: Parameters<typeof typescriptType>[0]): string {
  const hasFields = type.kind === 'record' || (type.kind === 'list' && type.item.kind === 'record');
  const shape = hasFields ? typescriptType(type) : '';
  return shape !== '' && shape.length <= MAX_SHAPE ? ` Shape: ${shape}` : '';
}

const indented = (text: string): string =>
  text === '' ? '' : ` ${text.replaceAll('\n', `\n${INDENT}${INDENT}`)}`;

/** A docstring around any text: quotes and backslashes in it have no special meaning. */
function docstring(text: string, indent: string): string {
  const inert = plainText(text, Infinity)
    .replaceAll('\\', '\\\\')
    .replace(/"{2,}/g, (quotes) => '\\"'.repeat(quotes.length))
    .replace(/\n(?=[^\n])/g, `\n${indent}`);
  return `${indent}"""${inert}\n${indent}"""`;
}
