// Cuts code into tokens. Colour helps reading and decides nothing: of code in another language, of long code and of code
// that cannot be cut, all is one token.
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';

/** Those that agents write. A grammar whose time grows with the square of a text (that of TOML) must not be among them. */
const library = createLowlight({
  ...{ bash, css, diff, dockerfile, go, javascript, json, python },
  ...{ rust, shell, sql, typescript, xml, yaml },
});

/** Longer code would keep the page from answering. Within these limits the worst that we found takes 0.2 s. */
const MAX_CHARS = 20_000;
const MAX_LINE_CHARS = 1_000;

const KINDS = {
  comment: ['comment', 'quote'],
  string: ['string', 'regexp', 'char', 'symbol'],
  word: ['keyword', 'literal', 'type', 'name', 'selector-tag'],
  number: ['number'],
  title: ['title', 'section', 'attr', 'attribute', 'built_in', 'property', 'selector-class', 'selector-id'],
  aside: ['meta', 'doctag', 'prompt'],
  added: ['addition'],
  removed: ['deletion'],
} as const;
export type TokenKind = keyof typeof KINDS;

export interface Token {
  /** Null: nothing in particular. */
  kind: TokenKind | null;
  text: string;
}

/** By the library's names of what it finds. What stands in a string to be computed is no string. */
const KIND_OF = new Map<string, TokenKind | null>([
  ...Object.entries(KINDS).flatMap(([kind, names]) =>
    names.map((name) => [name, kind as TokenKind] as const),
  ),
  ['subst', null],
]);

/** The texts of the tokens together are the code. */
export function tokensOf(code: string, language: string | null): Token[] {
  const whole: Token[] = [{ kind: null, text: code }];
  if (language === null || isTooLong(code)) return whole;
  try {
    if (!library.registered(language)) return whole;
    const tokens: Token[] = [];
    collect(library.highlight(language, code, { prefix: '' }).children, null, tokens);
    return tokens;
  } catch {
    return whole;
  }
}

const isTooLong = (code: string): boolean =>
  code.length > MAX_CHARS || code.split('\n').some((line) => line.length > MAX_LINE_CHARS);

type Tree = ReturnType<typeof library.highlight>['children'];

function collect(nodes: Tree, kind: TokenKind | null, tokens: Token[]): void {
  for (const node of nodes) {
    if (node.type === 'text') tokens.push({ kind, text: node.value });
    else if (node.type === 'element') {
      const [name] = Array.isArray(node.properties.className) ? node.properties.className : [];
      const own = KIND_OF.get(String(name));
      collect(node.children, own === undefined ? kind : own, tokens);
    }
  }
}

/** The same tokens line by line, without the ends of the lines. */
export function linesOf(tokens: readonly Token[]): Token[][] {
  const lines: Token[][] = [[]];
  for (const { kind, text } of tokens)
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ kind, text: part });
    }
  return lines;
}
