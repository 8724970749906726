// The possible texts of a word of bash, as far as the script itself determines them.
import { HOME, SPLIT, UNKNOWN, ansiText, bounded, boundedJoin, marksOf, quoted } from '../text';
import type { Scope } from './scope';
import type { SyntaxNode } from './syntax-tree';

/** Possible texts of one word. */
const MAX_TEXTS = 8;

export interface WordContext {
  code: string;
  scope: Scope;
  /** The output of a command in `$(…)`, backticks or `<(…)`, which is followed in the process. */
  outputOf(node: SyntaxNode): string;
  /** A path from which a text can be read as a file. */
  fileOf(text: string): string;
}

/** Where a part of a word is: in double quotes nothing is split or expanded, and `~` is special only at a start. */
interface Position {
  inQuotes: boolean;
  isStart: boolean;
}
const FREE: Position = { inQuotes: false, isStart: true };
const INSIDE: Position = { inQuotes: true, isStart: false };

export function evaluate(node: SyntaxNode, context: WordContext, position = FREE): string[] {
  const { code } = context;
  const text = code.slice(node.start, node.end);
  const { inQuotes, isStart } = position;
  switch (node.type) {
    case 'string':
      return inString(node, context);
    case 'raw_string':
      return [quoted(text.slice(1, -1))];
    case 'ansi_c_string':
      return [quoted(ansiText(text.slice(2, -1)))];
    case 'concatenation':
    case 'command_name':
      return inRow(node.children, context, position);
    case 'simple_expansion':
      return text === '$@' ? parameter('@', context) : split(parameter(text.slice(1), context), inQuotes);
    case 'expansion':
      // Even in quotes, each element stays a separate word.
      return /^\$\{(?:@|\w+\[@\])\}$/.test(text)
        ? expansion(node, context)
        : split(expansion(node, context), inQuotes);
    case 'command_substitution': {
      const output = context.outputOf(node).replace(/\n+$/, '');
      return split([inQuotes ? quoted(output) : output], inQuotes);
    }
    case 'process_substitution': {
      const output = context.outputOf(node);
      return [text.startsWith('>') ? UNKNOWN : context.fileOf(output)];
    }
    case 'array':
      return [
        boundedJoin(
          node.children.flatMap((child) => arrayItem(child, context)),
          SPLIT,
        ),
      ];
    case 'arithmetic_expansion':
    case 'brace_expression':
      for (const child of node.children) evaluate(child, context, INSIDE);
      return [UNKNOWN];
    default:
      // A command inside a node type that is not handled here.
      for (const child of node.children) if (child.type.endsWith('_substitution')) evaluate(child, context);
      return [wordText(text, isStart)];
  }
}

const arrayItem = (child: SyntaxNode, context: WordContext): string[] =>
  child.type === '(' || child.type === ')' ? [] : evaluate(child, context).slice(0, 1);

/** Every combination of the parts. */
function inRow(parts: SyntaxNode[], context: WordContext, position: Position): string[] {
  let texts = [''];
  for (const [at, part] of parts.entries()) {
    const next = evaluate(part, context, { ...position, isStart: position.isStart && at === 0 });
    texts = product(texts, next);
  }
  return texts;
}

function product(before: string[], after: string[]): string[] {
  if (before.length === 1 && after.length === 1) return [bounded(`${before[0]}${after[0]}`)];
  return before.flatMap((left) => after.map((right) => bounded(left + right))).slice(0, MAX_TEXTS);
}

/** Between the quotes: anything but an expansion is text, with few escapes. Also for the body of a here-document. */
export function inString(node: SyntaxNode, context: WordContext, trim = true): string[] {
  const { code } = context;
  const from = trim ? code.indexOf('"', node.start) + 1 : node.start;
  const to = trim && code[node.end - 1] === '"' ? node.end - 1 : node.end;
  let texts = [''];
  let at = from;
  const escaped = trim ? /\\(["\\$`]|\n)/g : /\\([\\$`]|\n)/g;
  const literal = (end: number): void => {
    const text = code.slice(at, end).replace(escaped, (_all, char: string) => (char === '\n' ? '' : char));
    texts = product(texts, [quoted(text)]);
  };
  for (const child of node.children) {
    if (!/expansion$|_substitution$/.test(child.type)) continue;
    literal(child.start);
    texts = product(texts, evaluate(child, context, INSIDE));
    at = child.end;
  }
  literal(to);
  return texts;
}

/** Outside of quotes: a backslash escapes the next character, and `~` is a home folder. */
function wordText(text: string, isStart: boolean): string {
  const tilde = isStart ? /^~[\w-]*(?=\/|$)/.exec(text) : null;
  const rest = tilde ? text.slice(tilde[0].length) : text;
  const plain = rest.replace(/\\(\n|[^])/g, (_all, char: string) => (char === '\n' ? '' : quoted(char)));
  return (tilde ? HOME : '') + plain;
}

/** Unquoted, the value of a variable is split into words. */
const split = (texts: string[], inQuotes: boolean): string[] =>
  inQuotes
    ? texts.map((text) => text.replaceAll(SPLIT, ' '))
    : texts.map((text) => text.replace(/[ \t\n]+/g, SPLIT));

function parameter(name: string, { scope }: WordContext): string[] {
  const { parameters } = scope;
  if (parameters && /^[1-9]\d*$/.test(name)) return [parameters[Number(name) - 1] ?? ''];
  if (parameters && (name === '@' || name === '*')) return [parameters.join(SPLIT)];
  return scope.get(name) ?? [UNKNOWN];
}

/** `${NAME…}`. */
function expansion(node: SyntaxNode, context: WordContext): string[] {
  const { code, scope } = context;
  const parts = node.children.slice(1, -1);
  const nameAt = parts.findIndex(({ type }) =>
    /^(?:variable_name|special_variable_name|subscript)$/.test(type),
  );
  const named = parts[nameAt];
  if (!named) return [UNKNOWN];
  const name = code.slice(named.start, named.end).replace(/\[.*\]$/s, '');
  const texts = parameter(name, context);
  const operator = parts[nameAt + 1];
  if (code.charAt(node.start + 2) === '!' || /\[\d+\]$/.test(code.slice(named.start, named.end)))
    return [UNKNOWN];
  if (!operator) return texts;
  const operands = parts.slice(nameAt + 2);
  const sign = code.slice(operator.start, operator.end);
  if (sign === '?') return texts;
  // With an empty value the script ends.
  if (sign === ':?')
    return texts.some((text) => text !== '') ? texts.filter((text) => text !== '') : [UNKNOWN];
  // Anything else changes the text.
  if (!/^:?[-=]$/.test(sign)) return texts.map((text) => marksOf(text));
  const other = operands.length > 0 ? inRow(operands, context, FREE) : [''];
  const isSet = scope.get(name) !== undefined && texts.every((text) => text !== '' && text !== UNKNOWN);
  return isSet ? texts : [...texts.filter((text) => text !== ''), ...other].slice(-MAX_TEXTS);
}
