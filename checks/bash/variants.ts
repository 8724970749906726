// A command's words with their places, for each combination of the possible values of its variables.
import type { Site } from '../check-run';
import type { Word } from '../commands/command';
import type { Placing } from '../findings';
import { unquoted, wordsOf } from '../text';
import type { SyntaxNode } from './tree';
import { evaluate, type WordContext } from './words';

/** Per command. */
export const MAX_VARIANTS = 16;

export function variants(nodes: SyntaxNode[], context: WordContext, placing: Placing): Word[][] {
  let lines: Word[][] = [[]];
  for (const node of nodes) {
    const words = evaluate(node, context).map((text) =>
      wordsOf(text).map((word): Word => ({ text: word, ...siteOf(node, word, context.code, placing) })),
    );
    const [only] = words;
    if (only && words.length === 1) for (const line of lines) line.push(...only);
    else lines = lines.flatMap((line) => words.map((more) => [...line, ...more])).slice(0, MAX_VARIANTS);
  }
  return lines;
}

/** The place of a node's text: exact if the code contains it unchanged. */
export function siteOf(node: SyntaxNode, text: string, code: string, placing: Placing): Site {
  const place = placing(node.start, node.end);
  const source = code.slice(node.start, node.end);
  const plain = unquoted(text);
  if (source === plain) return { place, exact: node.start };
  const isQuoted = source.length === plain.length + 2 && source.slice(1, -1) === plain;
  return { place, exact: isQuoted ? node.start + 1 : null };
}
