// Bash's syntax tree from tree-sitter-bash, copied from the parser's memory into plain objects.
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { Language, Parser, type Node } from 'web-tree-sitter';
import { compiledEntry } from '../../system/package-root';

/** Code is not written nested deeper; anything below is not followed. */
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
  /** The first invalid place; null if all of it is bash. */
  fault: number | null;
  /** Whether something was too deep or too large. */
  isCut: boolean;
}

let loading: Promise<Parser> | undefined;
let parser: Parser | undefined;

/** Await once before `parseBash`. */
export async function loadBash(): Promise<void> {
  loading ??= load();
  parser = await loading;
}

/**
 * V8's optimizing compiler uses 500 MB and a second of both cores for this grammar's lexer: enough to kill a worker in
 * a small container, for a parser that is fast enough without it. The flags stay in effect for the life of the process.
 */
const UNOPTIMIZED = ['--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];

async function load(): Promise<Parser> {
  UNOPTIMIZED.forEach((flag) => setFlagsFromString(flag));
  await Parser.init();
  const bash = await Language.load(readFileSync(compiledEntry('checks/bash/tree-sitter-bash.wasm')));
  return new Parser().setLanguage(bash);
}

/**
 * Undefined if it does not finish in time: the grammar can take long for input that is not code.
 * @param isOver whether the time has been used up
 */
export function parseBash(code: string, isOver: () => boolean): BashTree | undefined {
  if (!parser) throw new Error('loadBash was not awaited');
  // The declared type lacks the result that stops the parser.
  const tree = parser.parse(code, null, { progressCallback: isOver });
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

/** Tokens without children; most nodes are of these types. */
const LEAVES =
  /^(?:\W.*|word|variable_name|special_variable_name|string_content|raw_string|ansi_c_string|comment|file_descriptor|test_operator|regex|heredoc_start|heredoc_content|heredoc_end)$/s;

/** Without recursion: the code's author decides how deeply it is nested. */
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
      // Only missing nodes have no width. Asking costs a call into the parser's memory, as each field does.
      const isMissing = part.start === part.end && child.isMissing;
      if (part.type === 'ERROR' || isMissing) fault = Math.min(fault ?? part.start, part.start);
      if (!LEAVES.test(part.type)) open.push([child, part, depth + 1]);
    }
  }
  return { root, fault, isCut };
}
