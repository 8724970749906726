// Bash's syntax by tree-sitter-bash, copied out of the parser's memory into plain objects.
import { readFileSync } from 'node:fs';
import { Language, Parser, type Node } from 'web-tree-sitter';

/** Deeper ones nobody wrote; what lies below is not followed. */
const MAX_DEPTH = 200;
const MAX_NODES = 400_000;

export interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  children: SyntaxNode[];
}

export interface BashTree {
  root: SyntaxNode;
  /** Where it is no bash, the first place; null where all of it is. */
  fault: number | null;
  /** Whether something was too deep or too much. */
  isCut: boolean;
}

let loading: Promise<Parser> | undefined;
let parser: Parser | undefined;

/** Once before `parseBash`. */
export async function loadBash(): Promise<void> {
  loading ??= load();
  parser = await loading;
}

async function load(): Promise<Parser> {
  await Parser.init();
  const bash = await Language.load(readFileSync(require.resolve('tree-sitter-bash/tree-sitter-bash.wasm')));
  return new Parser().setLanguage(bash);
}

/**
 * Undefined where it is not done in time: a grammar can take long over what is no code at all.
 * @param until milliseconds since the Unix epoch
 */
export function parseBash(code: string, until: number): BashTree | undefined {
  if (!parser) throw new Error('loadBash was not awaited');
  // The declared type lacks the result that stops the parser.
  const progressCallback = (): boolean => Date.now() > until;
  const tree = parser.parse(code, null, { progressCallback });
  if (!tree) {
    parser.reset();
    return undefined;
  }
  try {
    return copy(tree.rootNode);
  } finally {
    tree.delete();
  }
}

/** Tokens: they have no children, and most nodes are these. */
const LEAVES =
  /^(?:\W.*|word|variable_name|special_variable_name|string_content|raw_string|ansi_c_string|comment|file_descriptor|test_operator|regex|heredoc_start|heredoc_content|heredoc_end)$/s;

/** Without recursion: how deep the code is nested is up to whoever wrote it. */
function copy(top: Node): BashTree {
  const read = ({ type, startIndex: start, endIndex: end }: Node): SyntaxNode => ({
    type,
    start,
    end,
    children: [],
  });
  const root = read(top);
  let fault: number | null = null;
  let isCut = false;
  let nodes = 0;
  const open: [Node, SyntaxNode, depth: number][] = [[top, root, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [node, made, depth] = next;
    if (depth >= MAX_DEPTH || nodes >= MAX_NODES) {
      isCut = true;
      continue;
    }
    for (const child of node.children) {
      nodes += 1;
      const part = read(child);
      made.children.push(part);
      // Only what is missing has no width; asking costs a call into the parser's memory, as each field does.
      const isMissing = part.start === part.end && child.isMissing;
      if (part.type === 'ERROR' || isMissing) fault = Math.min(fault ?? part.start, part.start);
      if (!LEAVES.test(part.type)) open.push([child, part, depth + 1]);
    }
  }
  return { root, fault, isCut };
}
