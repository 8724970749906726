// The syntax trees of both languages: ESTree. Acorn makes them of JavaScript, and parse-python.py of Python.
import { Parser, type Options } from 'acorn';

const OPTIONS = {
  ecmaVersion: 'latest',
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
  allowHashBang: true,
} satisfies Partial<Options>;

/** A node with the fields of the standard. Places are offsets in UTF-16 units. */
export interface EsNode {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

/** The answer of the process that parses Python. */
export type PythonTree = { body: EsNode[] } | { fault: string };

/** Modules, scripts and CommonJS. Throws if the code is not JavaScript, or nested too deeply for the parser. */
export function parseJavaScript(code: string): EsNode {
  const parse = (options: Partial<Options>): EsNode =>
    Parser.parse(code, { ...OPTIONS, ...options }) as unknown as EsNode;
  try {
    return parse({ sourceType: 'module', allowImportExportEverywhere: true });
  } catch (err) {
    try {
      return parse({ sourceType: 'script' });
    } catch {
      throw err;
    }
  }
}

export const isNode = (value: unknown): value is EsNode => isObject(value) && typeof value.type === 'string';

const NOTHING: EsNode = { type: 'EmptyStatement', start: 0, end: 0 };

/** A field with one node, or none. */
export const one = (value: unknown): EsNode => (isNode(value) ? value : NOTHING);

/** A field with a node or a list of them; holes are left out. */
export const many = (value: unknown): EsNode[] => (Array.isArray(value) ? value : [value]).filter(isNode);

/** The texts and expressions of a template, in their order. */
export const templateParts = ({ quasis, expressions }: EsNode): EsNode[] =>
  [...many(quasis), ...many(expressions)].sort((a, b) => a.start - b.start);

/** In the order of the fields. */
export function childrenOf(node: EsNode): EsNode[] {
  const children: EsNode[] = [];
  for (const key in node) {
    const value = node[key];
    if (typeof value === 'object') children.push(...many(value));
  }
  return children;
}

/** The name of an identifier, or of a key; '' if there is none. */
export function nameOf(value: unknown): string {
  const name = isObject(value) ? (value.name ?? value.value) : value;
  return typeof name === 'string' || typeof name === 'number' ? String(name) : '';
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
