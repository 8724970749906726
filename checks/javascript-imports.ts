// The unconditional imports of JavaScript, which must be installed before it runs.
import { isBuiltin } from 'node:module';
import type { CodeImport } from '../contracts/tools/package-names';
import { childrenOf, isNode, many, nameOf, parseJavaScript, type EsNode } from './code/estree';

/** Per script; more are not installed one by one. */
const MOST = 100;

/**
 * Packages that the code imports before it does anything: by `import` and `export … from`, which come first wherever they
 * stand, and by `require` outside of functions, conditions and `try`, up to the first other call, which might install or
 * write what follows. Without Node's own modules, paths and URLs. Empty if the code does not parse.
 */
export function importsOf(code: string): CodeImport[] {
  let tree: EsNode;
  try {
    tree = parseJavaScript(code);
  } catch {
    return [];
  }
  const statements = many(tree.body);
  const first = statements.findIndex(mayProvideModules);
  const required = statements.slice(0, first < 0 ? undefined : first).flatMap(requiredIn);
  const found = new Map<string, number>();
  const sources = [...statements.flatMap(declaredIn), ...required];
  for (const source of sources.sort((a, b) => a.start - b.start)) {
    const module = source.value;
    if (typeof module === 'string' && isPackage(module) && !found.has(module))
      found.set(module, source.start);
  }
  return [...found]
    .slice(0, MOST)
    .map(([module, at]) => ({ module, line: code.slice(0, at).split(/\r\n|[\n\r\u2028\u2029]/).length }));
}

const isPackage = (name: string): boolean =>
  /^(?:@[\w~-][\w.~-]*\/)?[\w~-][\w.~-]*(?:\/[\w.~/-]*)?$/.test(name) && !isBuiltin(name);

const CONDITIONAL =
  /Function|^(?:If|Try|Switch|While|DoWhile|For|ForOf|ForIn|Labeled)Statement$|^(?:Conditional|Logical|Class)Expression$|^ClassDeclaration$/;

const declaredIn = (statement: EsNode): EsNode[] =>
  /^(?:Import|Export)\w*Declaration$/.test(statement.type) && isNode(statement.source)
    ? [statement.source]
    : [];

/** What `require` is called with, in the order of the calls. */
function requiredIn(statement: EsNode): EsNode[] {
  return within(statement, CONDITIONAL)
    .flatMap((node) => (isRequire(node) ? many(node.arguments).slice(0, 1) : []))
    .sort((a, b) => a.start - b.start);
}

const isRequire = (node: EsNode): boolean =>
  node.type === 'CallExpression' && nameOf(node.callee) === 'require';

const isPrint = ({ type, callee }: EsNode): boolean =>
  type === 'CallExpression' && isNode(callee) && nameOf(callee.object) === 'console';

/** Whether running it could make modules available: any call but of `require` for a package, or of `console`. */
function mayProvideModules(statement: EsNode): boolean {
  return within(statement, /Function/).some((node) => {
    if (isPrint(node)) return false;
    if (isRequire(node)) return /^[./]/.test(nameOf(many(node.arguments)[0]));
    return /^(?:Call|New|TaggedTemplate|Await|Import)Expression$/.test(node.type);
  });
}

/** The node and all in it, but for what is in nodes of these types. */
function within(statement: EsNode, without: RegExp): EsNode[] {
  const found: EsNode[] = [];
  const open: EsNode[] = [statement];
  for (let node = open.pop(); node; node = open.pop()) {
    if (without.test(node.type)) continue;
    found.push(node);
    open.push(...childrenOf(node));
  }
  return found;
}
