// Detects a function that starts itself twice, or in the background, before anything else can stop it.
import type { SyntaxNode } from './tree';

/** Whether the body of function `name` pipes it into itself or starts it in the background. */
export function isForkBomb(name: string, body: SyntaxNode, textOf: (node: SyntaxNode) => string): boolean {
  const calls = (node: SyntaxNode): boolean =>
    node.type === 'command' &&
    node.children.some((child) => child.type === 'command_name' && textOf(child) === name);
  const open = [body];
  for (let node = open.pop(); node; node = open.pop()) {
    const { children } = node;
    if (node.type === 'pipeline' && children.filter(calls).length > 1) return true;
    const background = children.some((child, at) => child.type === '&' && calls(children[at - 1] ?? child));
    if (background && children.filter(calls).length > 1) return true;
    open.push(...children);
  }
  return false;
}
