// Parses JavaScript with acorn: modules, scripts and CommonJS, with `await` and `return` at the top level.
import { Parser, type Node as Plain, type Options } from 'acorn';
import type { Node } from './parsed-program';

const OPTIONS = {
  ecmaVersion: 'latest',
  allowAwaitOutsideFunction: true,
  allowReturnOutsideFunction: true,
  allowHashBang: true,
} satisfies Partial<Options>;

/** An ESTree node, with the fields of the standard. */
export type EsNode = Plain & Record<string, unknown>;

/** The ESTree. Throws if the code is not JavaScript, or nested too deeply for the parser. */
export function parseEs(code: string): EsNode {
  try {
    return Parser.parse(code, {
      ...OPTIONS,
      sourceType: 'module',
      allowImportExportEverywhere: true,
    }) as unknown as EsNode;
  } catch (err) {
    try {
      return Parser.parse(code, { ...OPTIONS, sourceType: 'script' }) as unknown as EsNode;
    } catch {
      throw err;
    }
  }
}

/** The statements in the form that the checks use. Throws like `parseEs`. */
export const parseJavaScript = (code: string): Node[] => listOf(parseEs(code).body).map(lower);

const isNode = (value: unknown): value is EsNode =>
  typeof value === 'object' && value !== null && typeof (value as EsNode).type === 'string';
const listOf = (value: unknown): EsNode[] =>
  Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [];
function lowerAll(...values: unknown[]): Node[] {
  const nodes: Node[] = [];
  for (const value of values) for (const node of listOf(value)) nodes.push(lower(node));
  return nodes;
}

function lower(node: EsNode): Node {
  // Assigned, not spread: this runs for every node.
  const made = (LOWERED[node.type] ?? other)(node) as Node;
  made.s = node.start;
  made.e = node.end;
  return made;
}

function other(node: EsNode): Lowered {
  const p: Node[] = [];
  for (const key in node) {
    const value = node[key];
    if (Array.isArray(value)) p.push(...lowerAll(value));
    else if (isNode(value)) p.push(lower(value));
  }
  return { k: 'other', p };
}

const one = (value: unknown): Node => (isNode(value) ? lower(value) : { k: 'idle', s: 0, e: 0 });
const orNull = (value: unknown): Node | null => (isNode(value) ? lower(value) : null);
const nameOf = (value: unknown): string => {
  const node = value as EsNode | null;
  const name = node?.name ?? node?.value;
  return typeof name === 'string' || typeof name === 'number' ? String(name) : '';
};

type Lowered = { [K in Node['k']]: Omit<Extract<Node, { k: K }>, 's' | 'e'> }[Node['k']];

const func = (node: EsNode): Lowered => {
  const body = node.body as EsNode;
  const b =
    body.type === 'BlockStatement'
      ? lowerAll(body.body)
      : [{ k: 'return', v: lower(body), s: body.start, e: body.end } as Node];
  const ps = listOf(node.params).map((param) =>
    nameOf(
      param.type === 'AssignmentPattern' ? param.left : param.type === 'RestElement' ? param.argument : param,
    ),
  );
  return { k: 'func', n: node.id ? nameOf(node.id) : null, ps, b };
};
const property = (node: EsNode): [string, Node][] =>
  node.type === 'Property' && !(node.computed && (node.key as EsNode).type !== 'Literal')
    ? [[nameOf(node.key), one(node.value)]]
    : [['', one(node.argument ?? node.value)]];
const object = (node: EsNode): Lowered => ({ k: 'object', kv: listOf(node.properties).flatMap(property) });
const list = (node: EsNode): Lowered => ({ k: 'list', p: lowerAll(node.elements) });
const same = (node: EsNode): Lowered => ({ k: 'same', v: one(node.argument ?? node.expression) });
const branch = (node: EsNode): Lowered => ({
  k: 'branch',
  b: lowerAll(node.test, node.consequent, node.alternate, node.discriminant, node.cases),
});
const call = (node: EsNode): Lowered => ({ k: 'call', f: one(node.callee), a: lowerAll(node.arguments) });
const whileLoop = (node: EsNode): Lowered => ({
  k: 'loop',
  t: null,
  i: null,
  b: lowerAll(node.init, node.test, node.update, node.body),
  forever: !isNode(node.test) || node.test.value === true || node.test.value === 1,
});
const forOf = (node: EsNode): Lowered => {
  const left = node.left as EsNode;
  const target = left.type === 'VariableDeclaration' ? listOf(left.declarations)[0]?.id : left;
  return { k: 'loop', t: orNull(target), i: one(node.right), b: lowerAll(node.body) };
};

const LOWERED: Record<string, ((node: EsNode) => Lowered) | undefined> = {
  Literal: ({ value }) =>
    typeof value === 'string'
      ? { k: 'text', v: value }
      : typeof value === 'number'
        ? { k: 'number', v: String(value) }
        : typeof value === 'boolean'
          ? { k: 'name', n: value ? 'True' : 'False' }
          : { k: 'other', p: [] },
  Identifier: (node) => ({ k: 'name', n: nameOf(node) }),
  MemberExpression: (node) =>
    node.computed
      ? { k: 'index', o: one(node.object), i: one(node.property) }
      : { k: 'member', o: one(node.object), n: nameOf(node.property) },
  CallExpression: call,
  NewExpression: call,
  ImportExpression: (node) => ({
    k: 'call',
    f: { k: 'name', n: 'require', s: node.start, e: node.end },
    a: lowerAll(node.source),
  }),
  TemplateLiteral: (node) => {
    const texts = listOf(node.quasis);
    const values = listOf(node.expressions);
    return { k: 'join', p: texts.flatMap((text, at) => [lower(text), ...lowerAll(values[at])]) };
  },
  TemplateElement: ({ value }) => ({ k: 'text', v: (value as { cooked?: string | null }).cooked ?? '' }),
  TaggedTemplateExpression: (node) => ({ k: 'tagged', f: one(node.tag), v: one(node.quasi) }),
  BinaryExpression: (node) =>
    node.operator === '+'
      ? { k: 'join', p: lowerAll(node.left, node.right) }
      : { k: 'compare', p: lowerAll(node.left, node.right) },
  LogicalExpression: (node) => ({ k: 'choice', p: lowerAll(node.left, node.right) }),
  ConditionalExpression: (node) => ({
    k: 'choice',
    p: [
      ...lowerAll(node.consequent, node.alternate),
      { k: 'other', s: node.start, e: node.end, p: lowerAll(node.test) },
    ],
  }),
  SequenceExpression: (node) => ({ k: 'choice', p: lowerAll(node.expressions).reverse() }),
  UnaryExpression: (node) => {
    const value = node.argument as EsNode;
    return node.operator === '-' && typeof value.value === 'number'
      ? { k: 'number', v: `-${value.value}` }
      : { k: 'other', p: lowerAll(value) };
  },
  AwaitExpression: same,
  SpreadElement: same,
  RestElement: same,
  ChainExpression: same,
  ParenthesizedExpression: same,
  ArrayExpression: list,
  ArrayPattern: list,
  ObjectExpression: object,
  ObjectPattern: object,
  AssignmentPattern: (node) => ({ k: 'same', v: one(node.left) }),
  FunctionDeclaration: func,
  FunctionExpression: func,
  ArrowFunctionExpression: func,
  AssignmentExpression: (node) => ({
    k: 'assign',
    t: one(node.left),
    v: one(node.right),
    more: node.operator === '+=',
  }),
  VariableDeclarator: (node) => ({ k: 'assign', t: one(node.id), v: one(node.init) }),
  ImportDeclaration: (node) => {
    const all = listOf(node.specifiers);
    const whole = all.find(({ type }) => type !== 'ImportSpecifier');
    const ns = all
      .filter(({ type }) => type === 'ImportSpecifier')
      .map((each): [string, string] => [nameOf(each.imported), nameOf(each.local)]);
    return { k: 'import', m: nameOf(node.source), ns, as: whole ? nameOf(whole.local) : null };
  },
  ExportAllDeclaration: () => ({ k: 'idle' }),
  ReturnStatement: (node) => ({ k: 'return', v: one(node.argument) }),
  IfStatement: branch,
  SwitchStatement: branch,
  TryStatement: (node) => ({ k: 'block', b: lowerAll(node.block, node.handler, node.finalizer) }),
  ThrowStatement: (node) => ({ k: 'compare', p: lowerAll(node.argument) }),
  BlockStatement: (node) => ({ k: 'block', b: lowerAll(node.body) }),
  WhileStatement: whileLoop,
  DoWhileStatement: whileLoop,
  ForStatement: whileLoop,
  ForOfStatement: forOf,
  ForInStatement: forOf,
  ExpressionStatement: (node) =>
    node.directive === undefined ? { k: 'other', p: lowerAll(node.expression) } : { k: 'idle' },
};
