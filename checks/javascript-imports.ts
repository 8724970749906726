// The unconditional imports of JavaScript, which must be installed before it runs.
import { isBuiltin } from 'node:module';
import type { CodeImport } from '../contracts/tools/package-names';
import { childrenOf, isNode, many, nameOf, parseJavaScript, type EsNode } from './code/estree';

/** Per script; nobody installs more one by one. */
const MOST = 100;

/**
 * Packages that the code imports at its top level: by `import`, `export … from`, or `require` outside of functions,
 * conditions and `try`. Without Node's own modules, paths and URLs. Empty if the code does not parse.
 */
export function importsOf(code: string): CodeImport[] {
  let tree: EsNode;
  try {
    tree = parseJavaScript(code);
  } catch {
    return [];
  }
  const found = new Map<string, number>();
  for (const source of many(tree.body).flatMap(sourcesOf)) {
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

/** The nodes with module names, in their order. */
function sourcesOf(statement: EsNode): EsNode[] {
  if (/^(?:Import|Export)\w*Declaration$/.test(statement.type) && isNode(statement.source))
    return [statement.source];
  const found: EsNode[] = [];
  const open: EsNode[] = [statement];
  for (let node = open.pop(); node; node = open.pop()) {
    if (CONDITIONAL.test(node.type)) continue;
    const [first] = many(node.arguments);
    if (node.type === 'CallExpression' && nameOf(node.callee) === 'require' && first) found.push(first);
    open.push(...childrenOf(node));
  }
  return found.sort((a, b) => a.start - b.start);
}
