// Parts of a command: its words with their places, its input, the targets of its redirections.
import { programName, type Word } from '../commands/command';
import type { Place, Placing } from '../findings';
import { isTemplateFile } from '../paths';
import { UNKNOWN, boundedWords, wordsOf } from '../text';
import type { SyntaxNode } from './syntax-tree';
import { evaluate, type WordContext } from './words';

export interface Input {
  text: string;
  /** Where the text is in the code, if it is there. */
  place: Place | null;
  /** Whether its input or output is a network connection. */
  isConnected: boolean;
}
export const NO_INPUT: Input = { text: UNKNOWN, place: null, isConnected: false };

/** Paths that bash treats as connections. */
export const NETWORK_DEVICE = /^\/dev\/(?:tcp|udp)\//;

const WORDS =
  /^(?:word|string|raw_string|ansi_c_string|translated_string|concatenation|number|simple_expansion|expansion|process_substitution|command_substitution)$/;

/** The words of a redirection, target first. */
export const targetsOf = ({ children }: SyntaxNode): SyntaxNode[] =>
  children.filter(({ type }) => WORDS.test(type));

/** The grammar treats them as more targets, but they are arguments of the command. */
export const argumentsBehind = (redirect: SyntaxNode, code: string): SyntaxNode[] =>
  targetsOf(redirect)
    .slice(1)
    // Not if it is the descriptor number of the next redirection.
    .filter(({ type, end }) => type !== 'number' || !/[<>]/.test(code.charAt(end)));

/** What a statement's output is for: people see it, people fill it in, or something uses it as it is. */
export type Audience = 'reader' | 'template' | 'program';

/** Whom redirections address, given whom the output addresses without them. */
export function audienceOf(redirects: SyntaxNode[], code: string, given: Audience): Audience {
  const parts = redirects.flatMap((node) => [node, ...node.children]);
  if (parts.some(({ type }) => type === 'pipeline')) return 'program';
  const files = parts
    .filter(({ type, children }) => type === 'file_redirect' && /^&?>/.test(children[0]?.type ?? ''))
    .flatMap((node) => targetsOf(node).slice(0, 1))
    .map(({ start, end }) => code.slice(start, end).replace(/["']/g, ''))
    .filter((text) => !/^(?:\d+|-|\/dev\/.*)$/.test(text));
  if (files.length === 0) return given;
  return files.every(isTemplateFile) ? 'template' : 'program';
}

/** Whether input piped into a stage goes to another machine. */
export function isConnection(stage: SyntaxNode, code: string): boolean {
  const command = stage.type === 'redirected_statement' ? stage.children[0] : stage;
  const name = command?.children.find(({ type }) => type === 'command_name');
  return (
    name !== undefined &&
    /^(?:nc|ncat|netcat|socat|telnet)$/.test(programName(code.slice(name.start, name.end)))
  );
}

/** Per command. */
export const MAX_VARIANTS = 16;

/** For each combination of the possible values of its variables. */
export function variants(nodes: SyntaxNode[], context: WordContext, placing: Placing): Word[][] {
  let lines: Word[][] = [[]];
  for (const node of nodes) {
    const place = placing(node.start, node.end);
    const words = evaluate(node, context).map((line) => wordsOf(line).map((text): Word => ({ text, place })));
    const [only] = words;
    if (only && words.length === 1) for (const line of lines) line.push(...only);
    else lines = lines.flatMap((line) => words.map((more) => [...line, ...more])).slice(0, MAX_VARIANTS);
  }
  return lines.map(boundedWords);
}

/** The names of all functions that the code defines. */
export function definedNames(root: SyntaxNode, textOf: (node: SyntaxNode) => string): string[] {
  const names: string[] = [];
  const open = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    const name = node.type === 'function_definition' && node.children.find(({ type }) => type === 'word');
    if (name) names.push(textOf(name));
    for (const child of node.children) open.push(child);
  }
  return names;
}

/** A fork bomb: a function that starts itself twice, without arguments, in a pipe or in the background. */
export function isForkBomb(name: string, body: SyntaxNode, textOf: (node: SyntaxNode) => string): boolean {
  let calls = 0;
  const open = [body];
  for (let node = open.pop(); node; node = open.pop()) {
    if (node.type === 'command' && textOf(node) === name) calls += 1;
    open.push(...node.children);
  }
  return calls > 1 && /(?<![&|>])[&|](?![&|>])/.test(textOf(body));
}
