// Which names belong to a function or a block: what is bound to them there is not seen outside.
import type { Language } from '../findings';
import { childrenOf, many, nameOf, one, type EsNode } from './estree';
import type { Value } from './value';

export class Variables {
  private readonly values = new Map<string, Value>();

  get(name: string): Value | undefined {
    return this.values.get(name);
  }

  set(name: string, value: Value): void {
    this.values.set(name, value);
  }

  /** Names that are bound inside hide those outside. */
  within<T>(names: string[], work: () => T): T {
    const before = names.map((name) => this.values.get(name));
    const result = work();
    for (const [at, name] of names.entries()) {
      const outer = before[at];
      if (outer) this.values.set(name, outer);
      else this.values.delete(name);
    }
    return result;
  }
}

/** The names that a target of an assignment binds. */
export function boundNames(target: EsNode): string[] {
  switch (target.type) {
    case 'Identifier':
      return [nameOf(target)];
    case 'AssignmentPattern':
    case 'RestElement':
    case 'SpreadElement':
      return boundNames(one(target.left ?? target.argument));
    case 'ArrayExpression':
    case 'ArrayPattern':
      return many(target.elements).flatMap(boundNames);
    case 'ObjectPattern':
      return many(target.properties).flatMap((part) => boundNames(one(part.value ?? part.argument)));
    case 'VariableDeclaration':
      return many(target.declarations).flatMap(({ id }) => boundNames(one(id)));
    default:
      return [];
  }
}

/** Of one block: JavaScript's `const` and `let`. Python's blocks have no names of their own. */
export const blockNames = ({ body }: EsNode, language: Language): string[] =>
  language === 'python'
    ? []
    : many(body).flatMap((node) =>
        node.type === 'VariableDeclaration' && node.kind !== 'var' ? boundNames(node) : [],
      );

const known = new WeakMap<EsNode, string[]>();

/** Of a function, or of a comprehension. In Python each name that is assigned there, unless it is declared otherwise. */
export function ownNames(node: EsNode, language: Language): string[] {
  const before = known.get(node);
  if (before) return before;
  const names = new Set(many(node.params).flatMap(boundNames));
  const shared = new Set<unknown>();
  const open = many(node.body);
  for (let next = open.pop(); next; next = open.pop()) {
    for (const name of declared(next, language)) names.add(name);
    if (next.type === 'Global') for (const name of next.names as string[]) shared.add(name);
    if (!isFunction(next)) open.push(...childrenOf(next));
  }
  const own = [...names].filter((name) => name !== '' && !shared.has(name));
  known.set(node, own);
  return own;
}

const isFunction = ({ type }: EsNode): boolean => /^(?:Function|ArrowFunction)/.test(type);

function declared(node: EsNode, language: Language): string[] {
  switch (node.type) {
    case 'FunctionDeclaration':
      return [nameOf(node.id)];
    case 'VariableDeclarator':
      return many(node.id).flatMap(boundNames);
    case 'ImportDeclaration':
      return many(node.specifiers).map(({ local }) => nameOf(local));
    case 'AssignmentExpression':
    case 'ForOfStatement':
      return language === 'python' ? many(node.left).flatMap(boundNames) : [];
    default:
      return [];
  }
}
